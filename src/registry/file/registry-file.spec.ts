import { DEMO_REGISTRY } from '../model/demo-registry.js';
import { describeDifference, difference } from '../model/registry-difference.js';
import { parseRegistryFile, RegistryFileError } from './registry-file.js';
import { writeRegistryFile } from './registry-writing.js';
import type { RegistryContents } from '../model/registry.types.js';

function faultsOf(text: string): string[] {
  try {
    parseRegistryFile(text);
  } catch (error) {
    if (error instanceof RegistryFileError) return error.message.split('\n');
    throw error;
  }
  return [];
}

describe('registry file', () => {
  it('reads what it writes', () => {
    const text = writeRegistryFile(DEMO_REGISTRY);
    expect(parseRegistryFile(text)).toEqual(DEMO_REGISTRY);
    const change = difference(DEMO_REGISTRY, parseRegistryFile(text) as RegistryContents);
    expect(change).toEqual({ changes: [] });
  });

  it('writes a DN as it is, and with the CA from which alone it counts', () => {
    const certificates = [{ subject: '/CN=a' }, { subject: '/CN=b', issuer: '/CN=CA' }];
    const users = [{ name: 'alice', certificates, subjects: [] }];
    const text = writeRegistryFile({ ...DEMO_REGISTRY, users });
    expect(text).toContain(
      '    certificates:\n      - /CN=a\n      - subject: /CN=b\n        issuer: /CN=CA\n',
    );
    expect(parseRegistryFile(text).users).toEqual(users);
    const open = [{ ...users[0]!, certificates: [{ subject: '/CN=a' }, { subject: '/CN=b' }] }];
    const change = difference({ ...DEMO_REGISTRY, users: open }, { ...DEMO_REGISTRY, users });
    expect(describeDifference(change)).toEqual([
      '~ users.alice: certificates -/CN=b +/CN=b (issuer /CN=CA)',
    ]);
  });

  it('reads keys, profile and own scopes of applications as it writes them', () => {
    const applications: RegistryContents['applications'] = [
      {
        id: 'q',
        name: 'Q',
        redirectUris: ['https://q.example/cb'],
        confidential: true,
        authentication: 'private_key_jwt',
        jwks: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }] },
        profile: 'fapi2',
        scopes: ['jobs:read'],
        group: 'grid_user',
        origin: 'file',
      },
    ];
    const text = writeRegistryFile({ ...DEMO_REGISTRY, applications });
    expect(parseRegistryFile(text).applications).toEqual(applications);
  });

  it('reads every member', () => {
    const text = `
      users:
        alice:
          sub: 5f1c-alice
          fullName: Alice Example
          email: alice@example.org
          certificates:
            - CN=alice,DC=grid,DC=org
            - {subject: "/CN=a", issuer: "CN=CA,O=x"}
          subjects: [{issuer: "https://idp.example", sub: "42"}]
      groups:
        g: {vo: v, properties: [JobMonitor], members: [alice], idpScopes: [a, b], idpRole: r}
      setups: {S: {groups: [g]}, T: {}}
      applications:
        p: {name: Portal, redirectUris: ["https://p.example/cb"], confidential: false}
        q: {authentication: tls_client_auth, subjectDn: "CN=q,O=x", profile: fapi2,
          scopes: ["jobs:read"], group: g}
        r: {authentication: private_key_jwt, jwks: {keys: [{kty: OKP}]}, profile: oauth2.1,
          idTokenAlg: RS256}
      storageElements: {SE: {description: tape}}
      sites:
        X: {backend: slurm, slots: 4, setups: [S], vos: [v], options: {partition: long}}
        Y: {backend: local-process, processors: 8, ramMB: 16000, gpus: 0, tags: [el9, GPU:a100],
          maxWallTime: 86400, network: host}
      shares: {g: 3}`;
    expect(parseRegistryFile(text)).toEqual({
      users: [
        {
          name: 'alice',
          sub: '5f1c-alice',
          fullName: 'Alice Example',
          email: 'alice@example.org',
          certificates: [
            { subject: '/DC=org/DC=grid/CN=alice' },
            { subject: '/CN=a', issuer: '/O=x/CN=CA' },
          ],
          subjects: [{ issuer: 'https://idp.example', sub: '42' }],
        },
      ],
      groups: [
        {
          name: 'g',
          vo: 'v',
          properties: new Set(['JobMonitor']),
          members: ['alice'],
          idpScopes: ['a', 'b'],
          idpRole: 'r',
        },
      ],
      setups: [{ name: 'S', groups: ['g'] }, { name: 'T' }],
      applications: [
        {
          id: 'p',
          name: 'Portal',
          redirectUris: ['https://p.example/cb'],
          confidential: false,
          origin: 'file',
        },
        {
          id: 'q',
          name: 'q',
          redirectUris: [],
          confidential: true,
          authentication: 'tls_client_auth',
          subjectDn: '/O=x/CN=q',
          profile: 'fapi2',
          scopes: ['jobs:read'],
          group: 'g',
          origin: 'file',
        },
        {
          id: 'r',
          name: 'r',
          redirectUris: [],
          confidential: true,
          authentication: 'private_key_jwt',
          jwks: { keys: [{ kty: 'OKP' }] },
          profile: 'oauth2.1',
          idTokenAlg: 'RS256',
          origin: 'file',
        },
      ],
      storageElements: [{ name: 'SE', description: 'tape' }],
      sites: [
        {
          ...{ name: 'X', backend: 'slurm', slots: 4, setups: ['S'], vos: ['v'] },
          options: { partition: 'long' },
        },
        {
          name: 'Y',
          backend: 'local-process',
          options: {},
          processors: 8,
          ramMB: 16000,
          gpus: 0,
          tags: ['el9', 'GPU:a100'],
          maxWallTime: 86400,
          network: 'host',
        },
      ],
      shares: [{ name: 'g', weight: 3 }],
    });
  });

  it.each(['a b', 'grün', 'x'.repeat(256), 'tab\there'])('refuses the subject %j', (sub) => {
    expect(faultsOf(`users: {alice: {sub: ${JSON.stringify(sub)}}}`)).toEqual([
      'line 1: users.alice.sub: must be 1 to 255 printable ASCII characters without blanks',
    ]);
  });

  it('leaves out the sections that the file does not have', () => {
    expect(parseRegistryFile('setups: {A: }')).toEqual({ setups: [{ name: 'A' }] });
    expect(parseRegistryFile('')).toEqual({});
  });

  it.each([
    [
      'usres: {}',
      'line 1: usres: is not known here; known are users, groups, setups, applications, storageElements, sites, shares',
    ],
    ['users:\n  a:\n    email: "a b@example.org"', 'line 3: users.a.email: is no e-mail address'],
    ['users:\n  a:\n    email: nobody', 'line 3: users.a.email: is no e-mail address'],
    [
      'users:\n  a:\n    fullName: "A\\u0007"',
      'line 3: users.a.fullName: must have 1 to 200 characters, none of them a control',
    ],
    [
      'groups:\n  g:\n    member: [a]',
      'line 3: groups.g.member: is not known here; known are vo, properties, members, idpScopes, idpRole, limits',
    ],
    [
      'groups:\n  g:\n    properties: [Normal]',
      `line 3: groups.g.properties[0]: Normal is not one of NormalUser, JobSharing, JobMonitor, JobAdministrator, ServiceAdministrator, FileCatalogManagement`,
    ],
    [
      'users: {a: {certificates: [{issuer: "/CN=CA"}]}}',
      'line 1: users.a.certificates[0].subject: is missing',
    ],
    [
      'users: {a: {certificates: [{subject: "/CN=a", issuer: CA}]}}',
      'line 1: users.a.certificates[0].issuer: is not a distinguished name: not a distinguished name: type=value is expected at character 1: "CA"',
    ],
    [
      'users: {a: {certificates: [{subject: "/CN=a", ca: x}]}}',
      'line 1: users.a.certificates[0].ca: is not known here; known are subject, issuer',
    ],
    ['users: {a: {certificates: alice}}', 'line 1: users.a.certificates: must be a list'],
    [
      'users: {a: {certificates: [12]}}',
      'line 1: users.a.certificates[0]: must be text (put it in quotes)',
    ],
    ['users: {a: {subjects: [{sub: x}]}}', 'line 1: users.a.subjects[0].issuer: is missing'],
    [
      'sites: {S: {backend: cray}}',
      'line 1: sites.S.backend: must be one of local-process, slurm, worker',
    ],
    [
      'sites: {S: {backend: slurm, slots: 0}}',
      'line 1: sites.S.slots: must be a whole number from 1 to 1000000',
    ],
    [
      'sites: {S: {backend: slurm, processors: 0}}',
      'line 1: sites.S.processors: must be a whole number from 1 to 1000000',
    ],
    [
      'sites: {S: {backend: slurm, ramMB: lots}}',
      'line 1: sites.S.ramMB: must be a whole number from 1 to 1000000000',
    ],
    [
      'sites: {S: {backend: slurm, gpus: -1}}',
      'line 1: sites.S.gpus: must be a whole number from 0 to 1000000',
    ],
    [
      'sites: {S: {backend: slurm, maxWallTime: 1.5}}',
      'line 1: sites.S.maxWallTime: must be a whole number from 1 to 31622400',
    ],
    ['shares: {g: 0}', 'line 1: shares.g: must be a whole number from 1 to 1000000'],
    ['shares: {g: {}}', 'line 1: shares.g: must be a whole number from 1 to 1000000'],
    ...['[]', ''].map((none) => [
      `sites: {S: {backend: slurm, vos: ${none}}}`,
      'line 1: sites.S.vos: names none; leave it out for all virtual organisations',
    ]),
    ['sites: {S: {backend: slurm, tags: GPU}}', 'line 1: sites.S.tags: must be a list'],
    [
      'sites: {S: {backend: slurm, tags: ["a b"]}}',
      'line 1: sites.S.tags[0]: is no tag: a letter or digit, then at most 63 letters, digits or one of _ . : -',
    ],
    [
      'sites: {S: {backend: slurm, network: open}}',
      'line 1: sites.S.network: must be one of none, host',
    ],
    [
      'setups: {S: {__proto__: {groups: [g]}}}',
      'line 1: setups.S.__proto__: is not known here; known are groups',
    ],
    [
      'applications: {p: {redirectUris: ["http://p.example/"]}}',
      'line 1: applications.p.redirectUris[0]: is plain http, which is for localhost, 127.0.0.1 and [::1] only',
    ],
    [
      'applications: {p: {secretHash: abc}}',
      'line 1: applications.p.secretHash: must be the SHA-256 of the secret in base64url (43 characters)',
    ],
    [
      'setups: {"a b": {}}',
      'line 1: setups.a b: is no name: 1 to 128 characters without blank, slash or comma',
    ],
    ['[]', 'file: must be a map of names'],
  ])('refuses %j and names the place', (text, fault) => {
    expect(faultsOf(text)).toEqual([fault]);
  });

  it('reads limits, and writes them again', () => {
    const text = [
      'users: {a: {limits: {running: 0, waiting: 5}}}',
      'groups: {g: {limits: {running: 10, waiting: 1000, ownerRunning: 2, ownerWaiting: 100}}, h: {limits: {}}}',
      'sites: {S: {backend: slurm, tags: [GPU], limits: {running: 3, waiting: 4, tags: {GPU: 1}}}}',
    ].join('\n');
    const { users, groups, sites } = parseRegistryFile(text);
    expect([users?.[0]?.limits, groups?.map(({ limits }) => limits), sites?.[0]?.limits]).toEqual([
      { running: 0, waiting: 5 },
      [{ running: 10, waiting: 1000, ownerRunning: 2, ownerWaiting: 100 }, undefined],
      { running: 3, waiting: 4, tags: { GPU: 1 } },
    ]);
    const contents = { ...DEMO_REGISTRY, ...parseRegistryFile(text) };
    expect(parseRegistryFile(writeRegistryFile(contents))).toEqual(contents);
  });

  it.each([
    ['users: {a: {limits: {running: -1}}}', 'running: must be a whole number from 0 to 1000000000'],
    ['users: {a: {limits: {ownerRunning: 1}}}', 'is not known here; known are running, waiting'],
    ['groups: {g: {limits: {running: 1.5}}}', 'must be a whole number from 0 to 1000000000'],
    ['groups: {g: {limits: {waiting: many}}}', 'must be a whole number from 0 to 1000000000'],
    ['groups: {g: {limits: 5}}', 'groups.g.limits: must be a map of names'],
    ['sites: {S: {backend: slurm, limits: {tags: [GPU]}}}', 'limits.tags: must be a map of names'],
    ['sites: {S: {backend: slurm, limits: {tags: {GPU: null}}}}', 'must be a whole number'],
  ])('refuses the limits of %j', (text, fault) => {
    expect(faultsOf(text)).toEqual([expect.stringContaining(fault)]);
  });

  it.each([
    '007',
    '1e3',
    '1.10',
    '0x1F',
    '1_000',
    '.inf',
    'null',
    '~',
    'true',
    'Yes',
    '2026-11-27',
  ])('keeps the name %s as it is written, and writes it again', (name) => {
    const { users, groups } = parseRegistryFile(
      `users: {${name}: {}}\ngroups: {${name}: {members: ['${name}']}}`,
    );
    expect(users).toEqual([{ name, certificates: [], subjects: [] }]);
    expect(groups).toMatchObject([{ name, members: [name] }]);
    const text = writeRegistryFile({ ...DEMO_REGISTRY, users: users!, groups: groups! });
    expect(parseRegistryFile(text)).toMatchObject({ users, groups });
  });

  it('keeps the order of names that are whole numbers, also when a group is changed', () => {
    const text = `
      users: {}
      groups: {zebra: {}, 2024: {}, 7: {}, alpha: {}}
      setups: {z: {}, 1: {}}
      applications: {p: {}, 4: {}}
      storageElements: {se: {}, 5: {}}
      sites: {s: {backend: slurm}, 6: {backend: slurm}}
      shares: {zebra: 1, 7: 2}`;
    const orderOf = (sections: Partial<RegistryContents>): unknown =>
      Object.fromEntries(
        Object.entries(sections).map(([section, items]) => [
          section,
          items.map((item) => ('name' in item ? item.name : undefined)),
        ]),
      );
    const order = {
      users: [],
      groups: ['zebra', '2024', '7', 'alpha'],
      setups: ['z', '1'],
      applications: ['p', '4'],
      storageElements: ['se', '5'],
      sites: ['s', '6'],
      shares: ['zebra', '7'],
    };
    const contents = parseRegistryFile(text) as RegistryContents;
    expect(orderOf(contents)).toEqual(order);
    expect(orderOf(parseRegistryFile(writeRegistryFile(contents)))).toEqual(order);
    expect(parseRegistryFile('users: &all {b: {}, 1: {}}\ngroups: *all').groups).toMatchObject([
      { name: 'b' },
      { name: '1' },
    ]);
  });

  it('tells names apart that are one number, and finds the lines of their faults', () => {
    expect(parseRegistryFile('shares: {1.10: 2, 1.1: 3, "7": 4, 007: 5}').shares).toEqual([
      { name: '1.10', weight: 2 },
      { name: '1.1', weight: 3 },
      { name: '7', weight: 4 },
      { name: '007', weight: 5 },
    ]);
    expect(faultsOf('users:\n  1: {}\n  007: { colour: red }')).toEqual([
      expect.stringMatching(/^line 3: users\.007\.colour: is not known here/),
    ]);
    expect(faultsOf('users:\n  ? [a]\n  : {}')).toEqual([
      'file: A name must be text at line 2, column 5',
    ]);
  });

  it('names every fault at once', () => {
    expect(faultsOf('users: {a: {x: 1}}\nsites: {S: {backend: slurm, y: 2}}')).toHaveLength(2);
  });

  it('refuses text that is no YAML, repeated keys and alias bombs', () => {
    expect(faultsOf('users: [')[0]).toMatch(/^file: .*line 1/);
    expect(faultsOf('users: {}\nusers: {}')[0]).toMatch(/^file: Map keys must be unique/);
    const bomb = ['a: &a [x, x]'];
    for (let i = 0; i < 12; i += 1) {
      const previous = i === 0 ? 'a' : `a${i - 1}`;
      bomb.push(`a${i}: &a${i} [*${previous}, *${previous}, *${previous}]`);
    }
    expect(faultsOf(bomb.join('\n')).length).toBeGreaterThan(0);
  });
});

describe('registry difference', () => {
  it('says what is added, removed and changed', () => {
    const after: RegistryContents = {
      ...DEMO_REGISTRY,
      users: [...DEMO_REGISTRY.users, { name: 'zoe', certificates: [], subjects: [] }],
      groups: DEMO_REGISTRY.groups.map((group) =>
        group.name === 'grid_share' ? { ...group, members: ['alice', 'zoe'], vo: 'other' } : group,
      ),
      setups: [{ name: 'Prod' }],
      sites: [...DEMO_REGISTRY.sites].reverse(),
    };
    expect(describeDifference(difference(DEMO_REGISTRY, after))).toEqual([
      '+ users.zoe',
      '~ groups.grid_share: vo vo -> other, members -bob +zoe',
      '- setups.Test',
      '~ sites.LOCAL.spare: order',
    ]);
  });
});
