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

{{/* The environment of web, workers, beat and the migrations. (list $ "secret with DATABASE_URL") */}}
{{- define "candor.environment" -}}
{{- $top := index . 0 }}
{{- $variables := include "candor.secretVariables" $top | fromYaml }}
{{- range $variables.needed }}
- name: {{ . }}
  valueFrom: {secretKeyRef: {name: {{ eq . "DATABASE_URL" | ternary (index $ 1) $top.Values.secrets.application }}, key: {{ . }}}}
{{- end }}
{{- range $variables.optional }}
- name: {{ . }}
  valueFrom: {secretKeyRef: {name: {{ $top.Values.secrets.application }}, key: {{ . }}, optional: true}}
{{- end }}
{{- range $name, $value := $top.Values.settings }}
- {name: {{ $name }}, value: {{ $value | toString | quote }}}
{{- end }}
- {name: MEDIA_ACCEL_PREFIX, value: /protected-media/}
{{- end }}

{{/* What the application writes to. Lectures arrive where they will stay. */}}
{{- define "candor.mounts" -}}
- {name: tmp, mountPath: /tmp}
- {name: storage, mountPath: /var/lib/candor/media, subPath: media}
- {name: storage, mountPath: /var/lib/candor/languages, subPath: languages}
{{- end }}
{{- define "candor.volumes" -}}
- {name: tmp, emptyDir: {medium: Memory, sizeLimit: 256Mi}}
- {name: storage, persistentVolumeClaim: {claimName: {{ .Values.storage.existingClaim | default (include "candor.name" .) }}}}
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
