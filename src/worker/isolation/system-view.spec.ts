import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isShown, parseBinds, systemView } from './system-view.js';

describe('parseBinds', () => {
  it('reads directories with their right', () => {
    expect(parseBinds('/cvmfs:ro, /scratch/:rw,')).toEqual([
      { path: '/cvmfs', isWritable: false },
      { path: '/scratch', isWritable: true },
    ]);
    expect(parseBinds('')).toEqual([]);
  });

  it.each(['/cvmfs', 'cvmfs:ro', '/:ro', '/a:rx', '/a/../etc:ro', '/a:ro:rw'])(
    'refuses %j',
    (text) => {
      expect(() => parseBinds(text)).toThrow('GRID_LOCAL_BINDS');
    },
  );

  it.each(['/proc:ro', '/dev/shm:rw', '/tmp:rw', '/job:ro', '/etc/ssl:ro', '/usr/local:rw'])(
    'refuses %j, which is the job’s own or the system’s',
    (text) => {
      expect(() => parseBinds(text)).toThrow('is the job');
    },
  );
});

describe('systemView', () => {
  let home: string;
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'view-')));
    mkdirSync(join(home, 'shared/grid'), { recursive: true });
  });
  afterEach(() => rmSync(home, { recursive: true }));

  it('hides what is the service’s wherever it lies below what is shown, links followed', () => {
    symlinkSync(join(home, 'shared/grid'), join(home, 'link'));
    const binds = [{ path: join(home, 'shared'), isWritable: false }];
    const view = systemView(binds, [join(home, 'link'), join(home, 'elsewhere'), '/root']);
    expect(view.hidden).toEqual([join(home, 'shared/grid')]);
    expect(view.binds).toEqual(binds);
  });

  it('shows programs of the system, nothing of /home, /root, /var, and no other configuration', () => {
    const view = systemView([], []);
    expect(isShown(view, '/bin/sh')).toBe(true);
    expect(isShown(view, '/etc/shadow')).toBe(false);
    expect(
      view.shown.filter((path) => /^\/(home|root|var|srv|sys|proc|tmp|etc$)/.test(path)),
    ).toEqual([]);
  });

  it('knows by their target what links show', () => {
    const shared = join(home, 'shared');
    writeFileSync(join(home, 'secret'), '');
    symlinkSync(join(home, 'secret'), join(shared, 'link'));
    writeFileSync(join(shared, 'program'), '');
    const view = systemView([{ path: shared, isWritable: false }], [join(shared, 'grid')]);
    const names = ['program', 'link', 'grid', 'none'];
    expect(names.map((name) => isShown(view, join(shared, name)))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
