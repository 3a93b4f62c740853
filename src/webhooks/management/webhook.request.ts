import { ApiProperty } from '@nestjs/swagger';
import { isJsonObject, Problem, type JsonValue } from '#src/kernel/index.js';
import {
  Check,
  Clamp,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
  Min,
  ReadBy,
} from '#src/http/index.js';
import { DELIVERY_STATES, type DeliveryState } from '../store/delivery.entity.js';
import { SOURCES, type JsonRecord, type SourceName } from '../store/webhook.entity.js';
import { webhookUrl } from '../target/webhook-url.js';

const URL_SHOWN = {
  description:
    'Where to: an https URL of at most 2048 characters without user, fragment and white space, whose name leads to public addresses only',
  format: 'uri',
  example: 'https://hooks.example/grid',
};
const NOT_A_URL = {
  message:
    'is not an https URL of at most 2048 characters, without user, fragment, white space and with a port up to 65535',
};
const isUrl = (text: string): boolean => webhookUrl(text) !== undefined;
const FILTER_SHOWN = {
  description:
    'Of `jobs`: the filters of `GET /jobs` and `allOwners`, each value a text, number, boolean or a list of them. Of `filecatalogue`: `prefix`, the path below which changes are told',
  type: 'object',
  additionalProperties: true,
  example: { status: ['Done', 'Failed'] },
} as const;
const LONGEST_DESCRIPTION = 300;

/** With all its keys: what makes instances of classes leaves `__proto__` and `constructor` out, which are no filters. */
function asObject(value: JsonValue, key: string): JsonRecord {
  if (!isJsonObject(value)) throw Problem.invalidField(key, 'is not a JSON object');
  return value;
}

/** Body of `POST /webhooks`. */
export class MakeWebhookRequest {
  @ApiProperty(URL_SHOWN)
  @Check(isUrl, NOT_A_URL)
  @IsString()
  url!: string;

  /** Whose changes are told */
  @IsIn(SOURCES)
  source!: SourceName;

  @ApiProperty(FILTER_SHOWN)
  @IsOptional()
  @ReadBy(asObject)
  filter: JsonRecord = {};

  /** For people */
  @IsOptional()
  @MaxLength(LONGEST_DESCRIPTION)
  @IsString()
  description: string = '';
}

/** Body of `PATCH /webhooks/<id>`: what is left out stays. */
export class ChangeWebhookRequest {
  @ApiProperty(URL_SHOWN)
  @IsOptional()
  @Check(isUrl, NOT_A_URL)
  @IsString()
  url?: string;

  @ApiProperty(FILTER_SHOWN)
  @IsOptional()
  @ReadBy(asObject)
  filter?: JsonRecord;

  /** For people */
  @IsOptional()
  @MaxLength(LONGEST_DESCRIPTION)
  @IsString()
  description?: string;

  /** `true` lets a disabled one go on where it stopped, `false` stops it */
  @IsOptional()
  @IsBoolean()
  enabled?: boolean;
}

/** Query of `GET /webhooks/<id>/deliveries`. */
export class ListDeliveriesQuery {
  /** At most so many, newest first; more than 100 is taken as 100 */
  @IsOptional()
  @Clamp(100)
  @Min(1)
  @IsInt()
  limit: number = 50;

  /** Only those in this state */
  @IsOptional()
  @IsIn(DELIVERY_STATES)
  state?: DeliveryState;

  /** Cursor of the `Link: rel="next"` header */
  @IsOptional()
  @Matches(/^[1-9]\d{0,14}$/, { message: 'is not a cursor of this list' })
  after?: string;
}
