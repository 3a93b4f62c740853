import { directory, file } from './addresses.js';
import { firstItem, firstLine, NOT_TRIED, showing, type Outcome } from './outcome.js';
import { encoded, FIELD, type Call, type Place } from './place.js';
import { rule, type BearerExpectation } from './rule.js';
import { always, ANYBODY, elsewhere, openInVo, OTHERS, SEEN, three } from './verdicts.js';

const SCOPE = '403 auth.insufficient-scope';
const CLOSED = '403 catalogue.forbidden';
/** What may not be seen is answered like what is not there. */
const NO_DIRECTORY = '404 catalogue.directory-not-found';
const NO_FILE = '404 catalogue.file-not-found';
/** The mate of alice's group may write where her closed directory stands, and learns that its name is taken. */
const TAKEN = '409 catalogue.exists';
const GROUP_MATE = 0;

/** Reading in the catalogue, which has no setups. */
function reading(call: (place: Place) => Call, hidden: Outcome): BearerExpectation {
  const others = {
    true: OTHERS.map(() => '200'),
    false: [hidden, hidden, '200', hidden, hidden, '200', ...elsewhere(hidden)],
  };
  return rule({ scope: 'catalogue:read', call, own: '200', others: openInVo(others) });
}

/** Changing something in a directory of alice; in her other setup she is still its owner. */
function writing(
  call: (place: Place) => Call,
  { own = '200', hidden = CLOSED }: { own?: Outcome; hidden?: Outcome },
): BearerExpectation {
  const verdicts = [
    CLOSED,
    CLOSED,
    NOT_TRIED,
    SCOPE,
    SCOPE,
    NOT_TRIED,
    SCOPE,
    SCOPE,
    CLOSED,
    CLOSED,
  ];
  return rule({
    scope: 'catalogue:write',
    call,
    own,
    others: openInVo({
      true: verdicts,
      false: verdicts.map((verdict, who) => {
        if (verdict !== CLOSED) return verdict;
        return hidden === CLOSED && who === GROUP_MATE ? TAKEN : hidden;
      }),
    }),
  });
}

const DELETED_BY: readonly Outcome[] = [
  ...['200 item 403', '200 item 403', NOT_TRIED, SCOPE, SCOPE],
  ...[NOT_TRIED, SCOPE, SCOPE, '200 item 403', '200 item 403'],
];

/** Operations of the catalogue. */
export const CATALOGUE: Record<string, BearerExpectation> = {
  'GET /filecatalogue/metadata': rule({
    scope: 'catalogue:read',
    call: () => ({ path: '/filecatalogue/metadata' }),
    own: '200 shown',
    others: SEEN,
    outcome: (answer, place) => showing(`"${place.directory}"`)(answer),
  }),
  'POST /filecatalogue/metadata': rule({
    scope: 'catalogue:write',
    call: () => ({
      path: '/filecatalogue/metadata',
      options: { json: { name: 'x', type: 'int' } },
    }),
    own: CLOSED,
    others: always([
      ...[...three(CLOSED), SCOPE, SCOPE, NOT_TRIED],
      ...[SCOPE, SCOPE, NOT_TRIED, CLOSED],
    ]),
  }),
  'GET /filecatalogue/events': rule({
    scope: 'catalogue:read',
    call: (place) => ({
      path: '/filecatalogue/events',
      options: { query: { prefix: place.directory, wait: '0', after: '0' } },
    }),
    own: '200 shown',
    others: SEEN,
    outcome: (answer, place) => showing(`"${place.file}"`)(answer),
  }),
  'GET /filecatalogue/directory': rule({
    scope: 'catalogue:read',
    call: () => ({ path: '/filecatalogue/directory' }),
    own: '200',
    others: ANYBODY,
  }),
  'GET /filecatalogue/directory/{directory}': reading(directory(''), NO_DIRECTORY),
  'GET /filecatalogue/directory/{directory}/metadata': reading(
    directory('/metadata'),
    NO_DIRECTORY,
  ),
  'GET /filecatalogue/directory/{directory}/search': reading(directory('/search'), NO_DIRECTORY),
  'GET /filecatalogue/file/{file}/attributes': reading(file('/attributes'), NO_FILE),
  'GET /filecatalogue/file/{file}/metadata': reading(file('/metadata'), NO_FILE),
  'GET /filecatalogue/file/{file}/content': reading(file('/content'), NO_FILE),
  'POST /filecatalogue/access': reading(
    ({ file: path }) => ({
      path: '/filecatalogue/access',
      options: { json: { paths: [path], right: 'read' } },
    }),
    NO_FILE,
  ),
  'POST /filecatalogue/lookup': {
    ...reading(
      ({ file: path }) => ({ path: '/filecatalogue/lookup', options: { json: { paths: [path] } } }),
      NO_FILE,
    ),
    outcome: firstLine,
  },
  'POST /filecatalogue/directory/{directory}': writing(
    ({ directory: place }) => ({ path: `/filecatalogue/directory/${encoded(`${place}/new`)}` }),
    { own: '201' },
  ),
  'DELETE /filecatalogue/directory/{directory}': writing(
    ({ directory: place }) => ({ path: `/filecatalogue/directory/${encoded(`${place}/empty`)}` }),
    { hidden: NO_DIRECTORY },
  ),
  'PUT /filecatalogue/directory/{directory}/metadata': writing(
    directory('/metadata', { [FIELD]: 'changed' }),
    { hidden: NO_DIRECTORY },
  ),
  'PATCH /filecatalogue/directory/{directory}/metadata': writing(
    directory('/metadata', { [FIELD]: 'changed' }),
    { hidden: NO_DIRECTORY },
  ),
  'PUT /filecatalogue/file/{file}': writing(
    ({ directory: place }) => ({
      path: `/filecatalogue/file/${encoded(`${place}/new`)}`,
      options: { json: { Size: 1 } },
    }),
    { own: '201' },
  ),
  'DELETE /filecatalogue/file/{file}': writing(file(''), { hidden: NO_FILE }),
  'PUT /filecatalogue/file/{file}/metadata': writing(file('/metadata', { note: 'changed' }), {
    hidden: NO_FILE,
  }),
  'PATCH /filecatalogue/file/{file}/metadata': writing(file('/metadata', { note: 'changed' }), {
    hidden: NO_FILE,
  }),
  'POST /filecatalogue/bulk': rule({
    scope: 'catalogue:write',
    call: (place) => ({
      path: '/filecatalogue/bulk',
      options: {
        body: `{"kind":"file","path":"${place.file}","op":"delete"}\n`,
        headers: { 'content-type': 'application/x-ndjson' },
      },
    }),
    own: '200 item done',
    others: openInVo({
      true: DELETED_BY,
      false: DELETED_BY.map((outcome) => (outcome === '200 item 403' ? '200 item done' : outcome)),
    }),
    outcome: firstItem,
  }),
};
