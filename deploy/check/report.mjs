/** Collects what was checked and says it as it comes. */
export class Report {
  failures = 0;
  left = 0;

  ok(what) {
    process.stdout.write(`ok       ${what}\n`);
  }

  failed(what, reason) {
    this.failures += 1;
    process.stdout.write(`FAILED   ${what}\n${indented(reason)}\n`);
  }

  leftOut(what, reason) {
    this.left += 1;
    process.stdout.write(`left out ${what}: ${reason}\n`);
  }

  /** Runs one check; what it throws is its failure. */
  async run(what, check) {
    try {
      await check();
      this.ok(what);
      return true;
    } catch (error) {
      this.failed(what, error.message);
      return false;
    }
  }

  /** Prints the sum; answers the exit code. */
  summary() {
    const left = this.left > 0 ? `, ${this.left} left out` : '';
    process.stdout.write(
      `${this.failures === 0 ? 'all is well' : `${this.failures} failed`}${left}\n`,
    );
    return this.failures === 0 ? 0 : 1;
  }
}

function indented(text) {
  return String(text)
    .trim()
    .split('\n')
    .map((line) => `         ${line}`)
    .join('\n');
}
