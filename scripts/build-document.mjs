/** Writes the forms of the OpenAPI document beside the built server, which only reads them. */
const { describeApi } = await import('#src/app/describe-api.js');
const { writeBuiltDocument } = await import('#src/app/built-document.js');
await writeBuiltDocument(describeApi);
process.exit(0);
