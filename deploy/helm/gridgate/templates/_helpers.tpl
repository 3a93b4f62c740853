{{- define "gridgate.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "gridgate.host" -}}
{{ (urlParse .Values.publicUrl).hostname | default (urlParse .Values.publicUrl).host }}
{{- end }}

{{- define "gridgate.labels" -}}
app.kubernetes.io/name: gridgate
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "gridgate.selector" -}}
app.kubernetes.io/name: gridgate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The pod of an instance. Input: root, role (api or worker), instances (its values). */}}
{{- define "gridgate.pod" -}}
{{- $values := .root.Values -}}
{{- $endsTls := and (eq .role "api") (eq $values.clientCertificates.mode "passthrough") -}}
metadata:
  labels:
    {{- include "gridgate.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  annotations:
    # A changed setting starts new pods, one after the other.
    checksum/settings: {{ include (print .root.Template.BasePath "/settings.yaml") .root | sha256sum }}
    prometheus.io/scrape: 'true'
    prometheus.io/port: '9464'
spec:
  # The drain, the grace and some air.
  terminationGracePeriodSeconds: {{ add $values.shutdown.drain $values.shutdown.grace 10 }}
  automountServiceAccountToken: false
  securityContext:
    {{- toYaml $values.podSecurityContext | nindent 4 }}
  {{- with $values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "gridgate.selector" .root | nindent 10 }}
          app.kubernetes.io/component: {{ .role }}
  {{- with $values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: gridgate
      image: {{ include "gridgate.image" .root }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      env:
        - name: GRID_ROLE
          value: {{ .role }}
        {{- if $endsTls }}
        - name: GRID_TLS_CERT
          value: /etc/gridgate/tls/tls.crt
        - name: GRID_TLS_KEY
          value: /etc/gridgate/tls/tls.key
        {{- else }}
        - name: GRID_TLS
          value: 'off'
        {{- end }}
        {{- range $name, $value := .instances.settings }}
        - name: {{ $name }}
          value: {{ $value | toString | quote }}
        {{- end }}
      envFrom:
        - configMapRef:
            name: {{ .root.Release.Name }}-settings
        - secretRef:
            name: {{ $values.secret }}
      ports:
        - name: instance
          containerPort: 8443
        # Probes and metrics, plain HTTP, for the inner network only.
        - name: inner
          containerPort: 9464
      # A first start may wait for the database and its migrations.
      startupProbe:
        httpGet: &ready
          path: /health/ready
          port: inner
        periodSeconds: 2
        failureThreshold: 90
      readinessProbe:
        httpGet: *ready
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 2
      # Alive does not ask for the database: an outage must not restart the pods.
      livenessProbe:
        httpGet:
          path: /health/live
          port: inner
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      resources:
        {{- toYaml .instances.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: home
          mountPath: /var/lib/gridgate
        - name: temporary
          mountPath: /tmp
        - name: registry
          mountPath: /etc/gridgate/registry
          readOnly: true
        - name: trusted-ca
          mountPath: /etc/gridgate/trusted-ca
          readOnly: true
        {{- if $endsTls }}
        - name: tls
          mountPath: /etc/gridgate/tls
          readOnly: true
        {{- end }}
  volumes:
    - name: home
      emptyDir: {}
    - name: temporary
      emptyDir: {}
    - name: registry
      configMap:
        name: {{ $values.registryConfigMap }}
    - name: trusted-ca
      configMap:
        name: {{ $values.trustedCaConfigMap }}
    {{- if $endsTls }}
    - name: tls
      secret:
        secretName: {{ $values.clientCertificates.tlsSecret }}
        defaultMode: 0440
    {{- end }}
{{- end }}
