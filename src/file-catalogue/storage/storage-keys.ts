import { Injectable } from '@nestjs/common';
import { StorageTokens, type Principal } from '#src/auth/index.js';
import { audienceOf, type AddressedElement } from '#src/registry/index.js';
import type { FileAccessResponse } from './access.response.js';
import { S3Addresses, type MakeCommand } from './s3-addresses.js';

/** An address that is to be opened. */
export interface KeyPlace {
  element: AddressedElement;
  url: string;
  /** What a token for it opens. */
  opens: string;
  /** The bytes that are written to an S3 element: these and no others. */
  content?: Content | undefined;
}

/** Bytes of which it is said beforehand what they are. */
export interface Content {
  size: number;
  /** 32 hexadecimal digits. */
  md5: string;
}

/** What opens an address. */
export type Key = Pick<FileAccessResponse, 'headers' | 'presigned' | 'expires'>;

/** Tokens and signed addresses that open addresses of storage elements. Who asks has looked at the rights. */
@Injectable()
export class StorageKeys {
  constructor(
    private readonly tokens: StorageTokens,
    private readonly s3: S3Addresses,
  ) {}

  /** What opens each address until then, by the address. `create` overwrites nothing. */
  async of(
    principal: Principal,
    places: readonly KeyPlace[],
    { right, end }: { right: 'read' | 'create'; end: Date },
  ): Promise<Map<string, Key>> {
    const keys = new Map<string, Key>();
    for (const element of new Set(places.map((place) => place.element))) {
      const own = places.filter((place) => place.element === element);
      if (element.kind === 's3') {
        for (const [url, key] of await this.signed(element, own, end)) keys.set(url, key);
        continue;
      }
      const paths = [...new Set(own.map(({ opens }) => opens))];
      const wishes = { audience: audienceOf(element), right, paths, notAfter: end };
      for (const { token, expires, paths: opened } of await this.tokens.give(principal, wishes)) {
        const headers = { Authorization: `Bearer ${token}` };
        for (const { url, opens } of own) {
          if (opened.includes(opens)) keys.set(url, { headers, expires: expires.toISOString() });
        }
      }
    }
    return keys;
  }

  private async signed(
    element: AddressedElement,
    places: readonly KeyPlace[],
    end: Date,
  ): Promise<Map<string, Key>> {
    const contents = new Map(places.map(({ url, content }) => [url, content]));
    const command: MakeCommand = (s3, object, url) => {
      const content = contents.get(url);
      return content === undefined
        ? new s3.GetObjectCommand(object)
        : new s3.PutObjectCommand({
            ...object,
            ...{ ContentLength: content.size, ContentMD5: base64(content.md5), IfNoneMatch: '*' },
          });
    };
    const signed = await this.s3.sign(element, { urls: [...contents.keys()], end, command });
    return new Map(
      [...signed].map(([url, { presigned, expires }]) => {
        const content = contents.get(url);
        const headers = content && { 'Content-MD5': base64(content.md5), 'If-None-Match': '*' };
        return [url, { presigned, ...(headers && { headers }), expires: expires.toISOString() }];
      }),
    );
  }
}

function base64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64');
}
