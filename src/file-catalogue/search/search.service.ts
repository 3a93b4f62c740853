import { Injectable } from '@nestjs/common';
import { requirePath, type Principal } from '#src/auth/index.js';
import type { AnswerWriter } from '../answer/answer-writer.js';
import { CataloguePolicy, type Actor } from '../access/catalogue.policy.js';
import type { Match } from '../totals/exact-totals.js';
import { FewMatchesReader } from '../matching/few-matches.service.js';
import { MatchFinder, type MatchRequest } from '../matching/match-finder.service.js';
import { readMatches } from './search.repository.js';
import { SearchTree } from './search-tree.js';

type EachMatch = (matches: readonly Match[]) => Promise<void>;

/** Finds directories by metadata. */
@Injectable()
export class SearchService {
  constructor(
    private readonly policy: CataloguePolicy,
    private readonly finder: MatchFinder,
    private readonly few: FewMatchesReader,
  ) {}

  /** Writes the tree `{"f", "s", "d"}` of the matching directories. 400, 404 before anything is written. */
  async writeTree(
    principal: Principal,
    request: MatchRequest,
    writer: AnswerWriter,
  ): Promise<void> {
    const tree = new SearchTree(request.path);
    await this.forEachMatch(await this.readerOf(principal, request), request, async (matches) => {
      writer.requireClient();
      for (const match of matches) {
        if (writer.push(tree.add(match.path, match))) await writer.flush();
      }
    });
    writer.push(tree.finish());
  }

  /** Writes one line `{"path", "files", "size"}` per matching directory. */
  async writeLines(
    principal: Principal,
    request: MatchRequest,
    writer: AnswerWriter,
  ): Promise<void> {
    await this.forEachMatch(await this.readerOf(principal, request), request, async (matches) => {
      writer.requireClient();
      for (const { path, files, bytes } of matches) {
        const line = `{"path":${JSON.stringify(path)},"files":${files},"size":${bytes}}\n`;
        if (writer.push(line)) await writer.flush();
      }
    });
  }

  private async readerOf(principal: Principal, { path }: MatchRequest): Promise<Actor> {
    requirePath(principal, 'read', { path, kind: 'directory' });
    return this.policy.readerOf(principal, path);
  }

  /** Hands over the matching directories in depth-first order, some hundred at a time. */
  async forEachMatch(actor: Actor, request: MatchRequest, each: EachMatch): Promise<void> {
    const few = await this.few.find(actor, request);
    if (few) {
      request.onPosition?.(few.position);
      if (few.matches.length > 0) await each(few.matches);
      return;
    }
    await this.finder.find(actor, { ...request, withTotals: true }, async (snapshot, found) => {
      for await (const rows of readMatches(snapshot, found.plan)) {
        const matches = rows.map(({ label, path, files, bytes }) => ({
          path,
          ...found.totals.of(label, { files, bytes: BigInt(bytes) }),
        }));
        await each(matches);
      }
    });
  }
}
