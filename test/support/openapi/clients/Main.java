import org.openapitools.client.ApiClient;
import org.openapitools.client.api.JobsApi;
import org.openapitools.client.model.*;

public class Main {
  public static void main(String[] words) throws Exception {
    ApiClient client = new ApiClient();
    String token = "Bearer " + System.getenv("TOKEN");
    // connect
    JobsApi jobs = new JobsApi(client);
    JobListResponse before = null;
    for (java.lang.reflect.Method method : JobsApi.class.getMethods()) { // it has a parameter for each filter
      if (method.getName().equals("listJobs"))
        before = (JobListResponse) method.invoke(jobs, new Object[method.getParameterCount()]);
    }
    ManifestRequest manifest = new ManifestRequest().executable("/bin/true").jobName("java");
    SubmittedJobsResponse made = jobs.submitJobs(new SubmitJobsRequest(manifest), null, null, null);
    Long jid = made.getJids().get(0);
    JobResponse job = jobs.getJob(jid);
    System.out.println((before.getJobs().size() >= 0) + " " + job.getJid().equals(jid) + " " + job.getName());
  }
}
