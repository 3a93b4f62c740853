/** The bytes of files at storage elements, as commands and workers fetch them. */
export { Adler32 } from './adler32.js';
export { digestsOf, sendBytes, type Digests } from './send-bytes.js';
export { replicaBytes, ReplicaFault } from './replica-bytes.js';
