# Gridgate in one image: server (GRID_ROLE all, api or worker) and the gridgate command.
# deploy/check.mjs runs the npm steps of this file without a Docker engine.
ARG NODE_VERSION=24

# 1. Compile. Needs the compiler and all development dependencies.
FROM node:${NODE_VERSION}-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json nest-cli.json ./
COPY scripts ./scripts
COPY src ./src
COPY examples/portal ./examples/portal
RUN npm run build

# 2. What the service needs when it runs, and nothing else.
FROM node:${NODE_VERSION}-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

# 3. The image: Node's binary without npm, the compiled service, its dependencies.
FROM debian:bookworm-slim
COPY --from=build /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
COPY package.json ./
COPY bin ./bin
COPY deploy/container/health.mjs ./deploy/container/health.mjs
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
RUN useradd --system --uid 10001 --user-group --home-dir /var/lib/gridgate gridgate \
 && install -d -o gridgate -g gridgate /var/lib/gridgate /var/lib/gridgate/sandboxes
USER 10001:10001
ENV NODE_ENV=production GRID_HOST=0.0.0.0 GRID_PORT=8443 GRID_HOME=/var/lib/gridgate
EXPOSE 8443
VOLUME /var/lib/gridgate
STOPSIGNAL SIGTERM
# Long enough for a first start that migrates; then ready means database, schema and signing key are there.
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=3 CMD ["node", "deploy/container/health.mjs"]
ENTRYPOINT ["node", "bin/gridgate.mjs"]
CMD ["serve"]
