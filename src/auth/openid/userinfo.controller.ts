import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal } from '../access/access.decorator.js';
import type { Principal } from '../bearer/principal.js';
import { UserinfoResponse } from './userinfo.response.js';
import { UserinfoService } from './userinfo.service.js';

/** Who the user of a token is (OpenID Connect Core §5.3). */
@ApiTags('authorization')
@Controller('oauth2')
@Access('bearer', 'openid')
@ApiOkResponse({ type: UserinfoResponse })
export class UserinfoController {
  constructor(private readonly users: UserinfoService) {}

  /**
   * Who the user of the token is, as far as its scopes allow.
   *
   * @remarks Claims of OpenID Connect; the token needs the scope `openid`.
   */
  @Get('userinfo')
  async getUserinfo(@CurrentPrincipal() principal: Principal): Promise<UserinfoResponse> {
    return this.users.describe(principal);
  }

  /**
   * The same by POST.
   *
   * @remarks OpenID Connect Core 5.3.1 asks for both methods.
   */
  @Post('userinfo')
  @HttpCode(200)
  async postUserinfo(@CurrentPrincipal() principal: Principal): Promise<UserinfoResponse> {
    return this.users.describe(principal);
  }
}
