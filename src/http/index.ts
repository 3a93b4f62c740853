export { accepts } from './accepted-type.js';
export { Admission } from './admission.js';
export {
  bodyTooLarge,
  contentTypeOf,
  decodeText,
  parseJsonText,
  readChunks,
  readForm,
  refuseEncoding,
  unsupportedMediaType,
} from './body.js';
export type { ByteRange } from './byte-range.js';
export { Cached } from './cached-answer.js';
export { ClientDisconnected, clientSignal, requireClient } from './client-signal.js';
export { AnswerBody, sendPiece } from './compressed-answer.js';
export { answerDownload, disposition, type FileDownload, plainName } from './download.js';
export { JsonText } from './grid-express.adapter.js';
export { HttpModule } from './http.module.js';
export { HttpServer } from './http-server.js';
export {
  type HttpRequest,
  type HttpResponse,
  clientAddressOf,
  isOfOwnWorker,
  labelRequest,
  labelsOf,
  requestIdOf,
  QueryValues,
  queryValuesOf,
  setQueryValues,
} from './messages.js';
export { ACCESS_RULE } from './open-route.js';
export { openTls } from './open-tls.js';
export { Download, pathParameter } from './openapi-decorators.js';
export { ProblemFilter } from './problem.filter.js';
export {
  FreeKeys,
  ReadAllBy,
  ReadBy,
  type RequestClass,
  type RequestShape,
  Shape,
  readJson,
  readQuery,
  readValues,
} from './request-class.js';
export { readBody, refuseUnknownKeys } from './request.pipe.js';
export { serveStaticSite } from './static-site.js';
export { openApiDocument } from './swagger.js';
export {
  Allow,
  Check,
  Clamp,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  Type,
  ValidateNested,
} from './validators.js';
