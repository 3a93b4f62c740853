export { accepts } from './accepted-type.js';
export { AddressList } from './address-list.js';
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
export { Cached } from './cached-answer.js';
export { ClientAddresses } from './client-address.js';
export { answerClientErrors } from './client-errors.js';
export { ClientDisconnected, clientSignal, requireClient } from './client-signal.js';
export { beginCompressible, sendCompressible, sendPiece } from './compressed-answer.js';
export { Connections } from './connections.js';
export { corsByAllowList } from './cors.js';
export { GridExpressAdapter } from './grid-express.adapter.js';
export { HealthController } from './health.controller.js';
export { INSTANT, type TimeSpan, readTime } from './iso-time.js';
export { JsonText } from './json-text.js';
export { listen, reservePort } from './listener.js';
export {
  type HttpRequest,
  type HttpResponse,
  callerNetworkOf,
  clientAddressOf,
  labelRequest,
  labelsOf,
  requestIdOf,
} from './messages.js';
export { serveMetrics } from './metrics-listener.js';
export { MetricsController } from './metrics.controller.js';
export { ACCESS_RULE, OpenRoute } from './open-route.js';
export { type OpenedTls, openTls } from './open-tls.js';
export { type PathParameter, schemaByMediaType } from './openapi-completion.js';
export {
  type CertificateHolder,
  CertificateRefusal,
  PeerCertificates,
} from './peer-certificates.js';
export { ProblemFilter } from './problem.filter.js';
export { QueryValues, queryValuesOf, setQueryValues } from './query-values.js';
export { arrivingAhead } from './read-ahead.js';
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
export { requestMiddleware } from './request-middleware.js';
export { RequestPipe, readBody, refuseUnknownKeys } from './request.pipe.js';
export { RequestsUnderWay } from './requests-under-way.js';
export { resourceMetadataUrl } from './resource-metadata.js';
export { RouteTable } from './route-table.js';
export { serveStaticSite } from './static-site.js';
export { openApiDocument, serveSwagger } from './swagger.js';
export {
  Allow,
  Check,
  Clamp,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
} from './validators.js';
export { type LoopWatch, watchLoop } from './watch-loop.js';
