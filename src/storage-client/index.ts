/** The bytes of files at storage elements, as commands and workers fetch them. */
export { Adler32 } from './adler32.js';
export { replicaBytes, ReplicaFault } from './replica-bytes.js';
