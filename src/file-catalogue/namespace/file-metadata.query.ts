import { IsBoolean, IsOptional } from '#src/http/index.js';

/** Query of `GET …/file/<f>/metadata`. */
export class FileMetadataQuery {
  /** Merge the values of the directories above; own values win */
  @IsOptional()
  @IsBoolean()
  inherited: boolean = false;
}
