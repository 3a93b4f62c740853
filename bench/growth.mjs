/**
 * What ten times as many files cost: each question to two catalogues of one PostgreSQL, in turns, one request after the
 * other. The floor is the smaller catalogue, so the ratio is the growth; the answers have the same size.
 */
import { filledCatalogue } from './catalogue-data/filled.mjs';
import { QUESTIONS } from './catalogue-data/questions.mjs';

/** Options of this file. */
export const options = {
  compare: { default: '', description: 'files in the smaller catalogue (a tenth of --files)' },
};

const sizes = ({ files, compare }) => [Number(files), Number(compare) || Number(files) / 10];

export const figures = QUESTIONS.map(({ name, title, make }) => ({
  name: `growth.${name}`,
  title,
  unit: 'ms',
  better: 'lower',
  floor: 'the same from the smaller catalogue',
  async prepare(bench) {
    const [largeFiles, smallFiles] = sizes(bench.options);
    const large = await filledCatalogue(bench, largeFiles);
    const small = await filledCatalogue(bench, smallFiles);
    const asks = ({ server, tree, token }) => {
      const { paths } = make(tree);
      return async (seconds) => {
        const { p50, p99 } = await bench.load({ server, paths, token, seconds, connections: 1 });
        return { value: p50, p50, p99 };
      };
    };
    return { figure: asks(large), floor: asks(small) };
  },
}));
