/** Where the output of a run lies. */
export interface OutputPlaces {
  /** The directory that the job could write. */
  directory: string;
  /** The path of that directory as the job saw it, to which its links may lead; `directory` unless told. */
  seenAs?: string;
  /** Files outside of it that stand for plain names in it, standard output and error: name → path. */
  files: ReadonlyMap<string, string>;
  /** Only files of this account are taken; a hard link to somebody else's file is not. */
  uid: number | undefined;
}
