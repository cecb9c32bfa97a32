{{/* The name of everything of this release. */}}
{{- define "candor.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Labels of one part: (list $ "web"). Its selector is the first three. */}}
{{- define "candor.selector" -}}
app.kubernetes.io/name: candor
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}
{{- define "candor.match" -}}
{{ include "candor.selector" . | fromYaml | toJson }}
{{- end }}
{{- define "candor.labels" -}}
{{ include "candor.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ (index . 0).Chart.Name }}-{{ (index . 0).Chart.Version }}
{{- end }}

{{- define "candor.image" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{/* Every pod: nobody's root, no rights at the cluster. (list $ user) */}}
{{- define "candor.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: {{ index . 1 }}
  runAsGroup: {{ index . 1 }}
  fsGroup: {{ index . 2 }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with (index . 0).Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- end }}

{{/* Every container: no capabilities, a root that cannot be written. */}}
{{- define "candor.confined" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{/* Pods of one part go to different nodes, where there are some. (list $ "web") */}}
{{- define "candor.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: {matchLabels: {{ include "candor.match" . }}}
{{- end }}

{{/* The variables that are secrets, and therefore no values of this chart: those without which no process starts, and the others. */}}
{{- define "candor.secretVariables" -}}
needed: [SECRET_KEY, DATABASE_URL, REDIS_URL]
optional:
  - CANDOR_REPLICA_URL
  - RELEASE_SIGNING_SECRET
  - METRICS_TOKEN
  - OTEL_EXPORTER_OTLP_HEADERS
  - EMAIL_PASSWORD
  - DOI_TOKEN
  - OIDC_CLIENT_SECRET
  - SAML_KEY
  - REDIS_SENTINEL_PASSWORD
  - CANDOR_MEDIA_KEY
  - CANDOR_MEDIA_SECRET
{{- end }}

{{/* The environment of web, workers, beat and the migrations. (list $ "secret with DATABASE_URL" "its key") */}}
{{- define "candor.environment" -}}
{{- $top := index . 0 }}
{{- $variables := include "candor.secretVariables" $top | fromYaml }}
{{- range $variables.needed }}
- name: {{ . }}
  valueFrom: {secretKeyRef: {name: {{ eq . "DATABASE_URL" | ternary (index $ 1) $top.Values.secrets.application }}, key: {{ eq . "DATABASE_URL" | ternary (index $ 2) . }}}}
{{- end }}
{{- range $variables.optional }}
- name: {{ . }}
  valueFrom: {secretKeyRef: {name: {{ $top.Values.secrets.application }}, key: {{ . }}, optional: true}}
{{- end }}
{{- range $name, $value := $top.Values.settings }}
- {name: {{ $name }}, value: {{ $value | toString | quote }}}
{{- end }}
- {name: MEDIA_ACCEL_PREFIX, value: /protected-media/}
{{- if and $top.Values.pgbouncer.enabled (ne (index . 1) $top.Values.secrets.migrations) }}
- {name: DATABASE_POOLED, value: "1"}
{{- end }}
{{- if $top.Values.secrets.redisCa }}
- {name: REDIS_CA_FILE, value: /etc/redis/ca.crt}
{{- end }}
{{- end }}

{{/* Where work finds its connection: with a pool it is another one than that of pages. */}}
{{- define "candor.keyOfWork" -}}
{{ .Values.pgbouncer.enabled | ternary "WORK_DATABASE_URL" "DATABASE_URL" }}
{{- end }}

{{/* The certificate of the authority of Redis, for everything that runs Candor's code. */}}
{{- define "candor.redisMount" -}}
{{- if .Values.secrets.redisCa }}
- {name: redis-ca, mountPath: /etc/redis, readOnly: true}
{{- end }}
{{- end }}
{{- define "candor.redisVolume" -}}
{{- with .Values.secrets.redisCa }}
- {name: redis-ca, secret: {secretName: {{ . }}, items: [{key: ca.crt, path: ca.crt}]}}
{{- end }}
{{- end }}

{{/* What the application writes to. Lectures arrive where they will stay. */}}
{{- define "candor.mounts" -}}
- {name: tmp, mountPath: /tmp}
- {name: storage, mountPath: /var/lib/candor/media, subPath: media}
- {name: storage, mountPath: /var/lib/candor/languages, subPath: languages}
{{- include "candor.redisMount" . }}
{{- end }}
{{- define "candor.volumes" -}}
- {name: tmp, emptyDir: {medium: Memory, sizeLimit: 256Mi}}
- {name: storage, persistentVolumeClaim: {claimName: {{ .Values.storage.existingClaim | default (include "candor.name" .) }}}}
{{- include "candor.redisVolume" . }}
{{- end }}

{{/* The image makes this folder, and a volume hides it. */}}
{{- define "candor.folders" -}}
- name: folders
  {{- include "candor.image" . | nindent 2 }}
  {{- include "candor.confined" . | nindent 2 }}
  command: [mkdir, --parents, /var/lib/candor/media/.incoming]
  resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 64Mi}}
  volumeMounts: {{- include "candor.mounts" . | nindent 4 }}
{{- end }}
