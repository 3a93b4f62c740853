import { openSettings, type Config } from '#src/config/index.js';
import { groupsBesideVos, hasSeveralVos, type Group } from '../../registry/index.js';
import { ok, warning, type Finding } from './finding.js';

/** Are the borders of virtual organisations what they seem to be? */
export function checkBorders(
  config: Pick<Config, 'globalJobs' | 'catalogueGlobalRead'>,
  groups: readonly Group[],
): Finding {
  const check = 'virtual organisations';
  const open = hasSeveralVos(groups) ? openSettings(config) : [];
  if (open.length > 0) {
    return warning(
      check,
      `${open.map((name) => `${name}=true`).join(' and ')}: users see what belongs to other virtual organisations`,
      'Leave them out, or set them to `vo`',
    );
  }
  const outside = groupsBesideVos(groups);
  if (outside.length === 0) return ok(check, 'every group of NormalUser has its own');
  return warning(
    check,
    `beside several, the groups ${outside.join(', ')} have NormalUser and belong to none`,
    'Give them a `vo`: what their members submit belongs to none, and with another property they see that of all',
  );
}
