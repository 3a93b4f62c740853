/** How words are found; the same when the index is made and when it is searched. */
export const SEARCH = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'kind', 'address', 'shown'],
  searchOptions: {
    boost: { title: 4, page: 2 },
    prefix: true,
    fuzzy: (word) => (word.length > 4 ? 0.2 : false),
    combineWith: 'AND',
    boostDocument: (_id, _word, { kind }) => (kind === 'Decisions' ? 0.5 : 1),
  },
};
