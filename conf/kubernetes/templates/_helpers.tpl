{{/* What all objects are called by: the release, which is "bourse" as a rule. */}}
{{- define "bourse.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "bourse.selector" -}}
app.kubernetes.io/name: bourse
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "bourse.labels" -}}
{{ include "bourse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The settings' file: what the values say, and above it what follows from the chart. */}}
{{- define "bourse.settings" -}}
{{- $said := .Values.settings -}}
{{- $_ := required "settings.base-url has to be said: what clients call the service" (get $said "base-url") -}}
{{- $_ := required "settings.store.url has to be said: postgres://…" (dig "store" "url" "" $said) -}}
{{- if dig "checkpoints" "enabled" true $said -}}
{{- $_ := required "settings.checkpoints.store has to be said: s3://…, or checkpoints.enabled: false" (dig "checkpoints" "store" "" $said) -}}
{{- end -}}
{{- $own := dict
  "host" "0.0.0.0"
  "port" 8080
  "drain-delay" (printf "%ds" (int .Values.drainSeconds))
  "management" (dict "host" "0.0.0.0" "port" 8081 "token-file" "/etc/bourse/secret/metrics-token")
  "store" (dict "password-file" "/etc/bourse/secret/store-password")
  "secret" (dict "key-file" "/etc/bourse/secret/secret-key")
-}}
{{- if .Values.s3Credentials -}}
{{- $_ := set $own "checkpoints" (dict "s3-credentials-file" "/etc/bourse/secret/s3-credentials") -}}
{{- end -}}
{{- mergeOverwrite (deepCopy $said) $own | toYaml -}}
{{- end }}

{{/* A pod that runs bourse; the caller says with which command, and what else its container has. */}}
{{- define "bourse.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- define "bourse.container" -}}
name: bourse
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
env:
  - name: JAVA_OPTIONS
    value: {{ .Values.javaOptions | quote }}
  {{- with .Values.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
volumeMounts:
  - name: settings
    mountPath: /etc/bourse/bourse.yaml
    subPath: bourse.yaml
    readOnly: true
  - name: secret
    mountPath: /etc/bourse/secret
    readOnly: true
  - name: data
    mountPath: /var/lib/bourse
  - name: tmp
    mountPath: /tmp
{{- end }}

{{- define "bourse.volumes" -}}
- name: secret
  secret:
    secretName: {{ .Values.secret }}
    defaultMode: 0440
# Nothing that has to outlive a pod: rows are in the database, files in the object store.
- name: data
  emptyDir: {}
- name: tmp
  emptyDir: {}
{{- end }}
