package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"example.test/client/grid"
)

func need(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctx := context.Background()
	token := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}
	client, err := grid.NewClientWithResponses(os.Getenv("GRID"), grid.WithRequestEditorFn(token))
	need(err)
	most := 5
	before, err := client.ListJobsWithResponse(ctx, &grid.ListJobsParams{MaxJobs: &most})
	need(err)
	name := "go"
	var body grid.SubmitJobsRequest
	need(body.FromManifestRequest(grid.ManifestRequest{Executable: "/bin/true", JobName: &name}))
	made, err := client.SubmitJobsWithResponse(ctx, nil, body)
	need(err)
	jid := (*made.JSON200.Jids)[0]
	job, err := client.GetJobWithResponse(ctx, jid)
	need(err)
	fmt.Println(len(before.JSON200.Jobs) >= 0, job.JSON200.Jid == jid, job.JSON200.Name)
}
