import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RegistryModule } from '#src/registry/index.js';
import { AnswerSender } from './answer/answer-writer.js';
import { SpoolSpace } from './answer/spool-space.js';
import { CatalogueNamesRepository } from './names/catalogue-names.repository.js';
import { CatalogueNames } from './names/catalogue-names.service.js';
import { CataloguePolicy } from './access/catalogue.policy.js';
import { CompatibleValuesService } from './compatible-values/compatible-values.service.js';
import { DemoCatalogue } from './demo/demo-catalogue.js';
import { BulkController } from './exchange/bulk.controller.js';
import { BulkRequestService } from './exchange/bulk-request.service.js';
import { BulkService } from './exchange/bulk.service.js';
import { ExportService } from './exchange/export.service.js';
import { ImportService } from './exchange/import.service.js';
import { CatalogueEventsController } from './feed/catalogue-events.controller.js';
import { CatalogueFeed } from './feed/catalogue-feed.js';
import { CatalogueTeller } from './feed/catalogue-teller.service.js';
import { PresentRights } from './feed/present-rights.service.js';
import { LookupController } from './lookup/lookup.controller.js';
import { LookupService } from './lookup/lookup.service.js';
import { MetadataFieldCache } from './metadata/metadata-field-cache.js';
import { MetadataController } from './compatible-values/metadata.controller.js';
import { DirectoriesController } from './namespace/directories.controller.js';
import { CatalogueFieldEntity } from './metadata/catalogue-field.entity.js';
import { CatalogueSegmentEntity } from './metadata/catalogue-segment.entity.js';
import { CatalogueValueEntity } from './metadata/catalogue-value.entity.js';
import { CatalogueNameEntity } from './names/catalogue-name.entity.js';
import { CatalogueDeltaEntity } from './totals/catalogue-delta.entity.js';
import { CatalogueDirectoryEntity } from './tree/catalogue-directory.entity.js';
import { CatalogueFileEntity } from './tree/catalogue-file.entity.js';
import { FilesController } from './namespace/files.controller.js';
import { CatalogueStorageRights } from './namespace/storage-rights.service.js';
import { FilePointReads } from './namespace/file-point-reads.js';
import { NamespaceService } from './namespace/namespace.service.js';
import { FewMatchesReader } from './matching/few-matches.service.js';
import { FirstEntriesReader } from './namespace/first-entries.service.js';
import { MatchFinder } from './matching/match-finder.service.js';
import { SearchController } from './search/search.controller.js';
import { SearchService } from './search/search.service.js';
import { TotalsAggregator } from './totals/totals-aggregator.service.js';
import { VerificationService } from './totals/verification.service.js';
import { CatalogueWriteService } from './changes/catalogue-write.service.js';
import { CatalogueBytesEntity } from './writing/catalogue-bytes.entity.js';
import { CatalogueWriter } from './writing/catalogue-writer.service.js';
import { LineReader } from './writing/line-reader.service.js';
import { MoveService } from './moves/move.service.js';
import { WritesController } from './changes/writes.controller.js';

/** The file catalogue: directories, files and their metadata. */
@Module({
  imports: [
    RegistryModule,
    TypeOrmModule.forFeature([
      CatalogueNameEntity,
      CatalogueDirectoryEntity,
      CatalogueFileEntity,
      CatalogueFieldEntity,
      CatalogueSegmentEntity,
      CatalogueValueEntity,
      CatalogueDeltaEntity,
      CatalogueBytesEntity,
    ]),
  ],
  controllers: [
    MetadataController,
    SearchController,
    DirectoriesController,
    FilesController,
    LookupController,
    WritesController,
    BulkController,
    CatalogueEventsController,
  ],
  providers: [
    SpoolSpace,
    AnswerSender,
    CatalogueNamesRepository,
    CatalogueNames,
    CataloguePolicy,
    FilePointReads,
    NamespaceService,
    LookupService,
    CatalogueStorageRights,
    MetadataFieldCache,
    MatchFinder,
    FewMatchesReader,
    FirstEntriesReader,
    SearchService,
    CompatibleValuesService,
    CatalogueWriter,
    CatalogueWriteService,
    BulkService,
    BulkRequestService,
    ExportService,
    ImportService,
    MoveService,
    VerificationService,
    LineReader,
    TotalsAggregator,
    CatalogueFeed,
    PresentRights,
    CatalogueTeller,
    DemoCatalogue,
  ],
  exports: [
    CataloguePolicy,
    CatalogueNames,
    CatalogueFeed,
    CatalogueTeller,
    NamespaceService,
    CatalogueStorageRights,
    CatalogueWriter,
    CatalogueWriteService,
    DemoCatalogue,
    ExportService,
    ImportService,
    MoveService,
    VerificationService,
  ],
})
export class FileCatalogueModule {}
