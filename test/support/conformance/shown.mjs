/** Makes names of tests of one file; the row is of a test with a table. */
export const of = (file) => (title, row) => ({ file, title, ...(row !== undefined && { row }) });
