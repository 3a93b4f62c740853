import { textField } from '../../parts/field.js';
import { mark } from '../../parts/form.js';
import { rangesOf } from '../../parts/words.js';

/** What makes several jobs of one: values, or a number of them. */
export class Repeats {
  readonly values = textField('values', 'Values to run it with', '1 2 5', {
    hint: 'One job for each, separated by blanks; 1:12 for 1 to 12, 0:100:5 in steps of 5. %s stands for the value',
  });
  readonly copies = textField('copies', 'How many times', '3', {
    hint: 'So many jobs that are all the same',
  });
  readonly fields = [this.values, this.copies];

  /** What the manifest has of it. Throws what `mark` makes. */
  manifest(): { Parameters?: string[] | number } {
    const values = this.list();
    const text = this.copies.input.value.trim();
    if (text === '') return values.length > 0 ? { Parameters: values } : {};
    if (!/^[1-9]\d{0,4}$/.test(text)) throw mark(this.copies, 'must be a whole number from 1 on');
    if (values.length > 0)
      throw mark(this.copies, 'is not for jobs with values: each value makes one');
    return Number(text) > 1 ? { Parameters: Number(text) } : {};
  }

  /** Several values have to stand somewhere. Throws what `mark` makes. */
  demandPlace(isThere: boolean): void {
    if (this.list().length < 2 || isThere) return;
    throw mark(this.values, 'are used nowhere: write %s where the value belongs');
  }

  get wish(): { array?: true } {
    const isOne = this.values.input.value.trim() === '' && Number(this.copies.input.value) < 2;
    return isOne ? {} : { array: true };
  }

  /** With which values: goes on behind a sentence. */
  get tried(): string {
    const values = this.list();
    const [first = ''] = values;
    if (values.length > 1) return `, with the values ${first} to ${values.at(-1) ?? ''}`;
    return values.length === 1 ? `, with the one value ${first}` : '';
  }

  private list(): string[] {
    const values = rangesOf(this.values.input.value);
    if (typeof values === 'string') throw mark(this.values, values);
    return values;
  }
}
