import { Module, type DynamicModule } from '@nestjs/common';
import { authEntities, AuthModule } from './auth/index.js';
import { PlatformModule, type PlatformInput } from './platform/index.js';
import { RegistryModule } from './registry/index.js';

/** TypeORM entities of all rooms. */
export const entities: (new () => object)[] = [...authEntities];

/** The composition root: the feature modules on the platform, nothing else. */
@Module({})
export class AppModule {
  static forRoot(platform: PlatformInput): DynamicModule {
    return {
      module: AppModule,
      imports: [PlatformModule.forRoot(platform), RegistryModule, AuthModule],
    };
  }
}
