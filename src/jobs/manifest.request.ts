/** A job as it is asked for. Keys that are not named here are kept and echoed. */
export class ManifestRequest {
  /**
   * An uploaded file, an absolute path, or a name on the PATH of the site.
   * @example '/bin/echo'
   */
  Executable!: string;
  /**
   * Split like a shell splits words, without a shell; a list of texts is taken as it is.
   * @example '"hello world"'
   */
  Arguments?: string;
  /**
   * Sites on which it may run; none: any.
   * @example ['LOCAL.demo']
   */
  Sites?: string[];
  /** Sites on which it must not run. */
  BannedSites?: string[];
  /** @example 'std.out' */
  StdOutput?: string;
  /** @example 'std.err' */
  StdError?: string;
  /** Names of uploaded files; uploaded files that are not listed are added. */
  InputSandbox?: string[];
  /** Files and patterns that are brought back; default: both outputs. */
  OutputSandbox?: string[];
  /** Catalogue paths under the virtual organisation, with or without `LFN:`. */
  InputData?: string[];
  /**
   * Seconds of CPU, 100 to 500000.
   * @example 86400
   */
  CPUTime?: number;
  /**
   * 0 to 10; the queue is ordered by priority, then age.
   * @example 1
   */
  Priority?: number;
  /** At most 128 characters. */
  JobName?: string;
  /** At most 32 characters. */
  JobGroup?: string;
  /** `User`, `Test` or `Hospital`. */
  JobType?: string;
}

/** Many jobs in one request. */
export class ManifestsRequest {
  manifests!: ManifestRequest[];
}

/** Jobs with files, as a multipart form. Every part with a file name is an input file, whatever its field name. */
export class ManifestUploadRequest {
  /** A manifest as JSON text; may be repeated. */
  manifest!: string;
  /** An input file. */
  file?: string;
}
