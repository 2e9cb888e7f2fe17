package dev.bourse.secrets;

import dev.bourse.secrets.SecretSamples.Sample;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A credential of every vendor and service, made from its published form: a name, the rule and a
 * template. {@code {url:43}} stands for that many random characters, a bar is removed (so that no
 * line here looks like a credential itself), and {@code ^} marks the place of the finding.
 */
final class VendorSamples {
  private static final String TABLE =
      """
      GitLab runner; gitlab-token; GR|1348941{url:20}
      NVIDIA; nvidia-key; nv|api-{url:64}
      Weights & Biases in a call; wandb-key; wa^ndb|.login(key="{hex:40}")
      Weights & Biases in a command; wandb-key; wa^ndb| login {hex:40}
      Weights & Biases of 2025; wandb-key; wa^ndb|_v1_{word:77}
      Replicate; replicate-token; r8|_{alnum:37}
      Groq; groq-key; gsk|_{alnum:52}
      xAI; xai-key; xa|i-{alnum:80}
      Perplexity; perplexity-key; ppl|x-{alnum:48}
      OpenRouter; openrouter-key; sk-|or-v1-{hex:64}
      RunPod; runpod-key; rp|a_{upper36:42}{alnum:4}
      Modal id; modal-token; ak|-{alnum:22}
      Modal secret; modal-token; as|-{alnum:22}
      Pinecone; pinecone-key; pc|sk_{alnum:6}_{alnum:63}
      LangSmith personal; langsmith-key; ls|v2_pt_{hex:32}_{hex:10}
      LangSmith service; langsmith-key; ls|v2_sk_{hex:32}_{hex:10}
      Langfuse; langfuse-key; sk|-lf-{uuid:1}
      Kaggle file; kaggle-key; {"username":"me","^key":"{hex:32}"}
      Kaggle file, turned; kaggle-key; {"^key": "{hex:32}", "username": "me"}
      Kaggle token; kaggle-key; KG|AT_{hex:32}
      Databricks; databricks-token; da|pi{hex:32}
      Cerebras; cerebras-key; cs|k-{alnum:48}
      Together; together-key; tgp|_v1_{url:43}
      Jina; jina-key; ji|na_{alnum:60}
      Fireworks; fireworks-key; fw|_{alnum:24}
      ElevenLabs; elevenlabs-key; sk|_{hex:48}
      DeepSeek; openai-key; s|k-{hex:32}
      Prefect; prefect-key; pn|u_{alnum:36}
      dbt; dbt-token; dbt|c_{url:46}
      AWS Bedrock; aws-bedrock-key; AB|SK{alnum:128}
      Azure storage; azure-key; AccountName=x;^Account|Key={base64:86}==;
      Azure service bus; azure-key; Endpoint=sb://x/;SharedAccessKeyName=y;^SharedAccess|Key={base64:43}=
      Azure key with a mark; azure-key; {base64:76}+ASt|A{alnum:5}==
      Azure AI; azure-key; {alnum:52}JQ|QJ99{alnum:26}
      Azure AD; azure-client-secret; {alnum:3}8|Q~{url:34}
      Azure SAS; azure-sas; https://x.blob.core.windows.net/c?sv=2024-11-04&se=2027-01-01T00:00:00Z&sr=c&sp=rl&^si|g={alnum:42}%3D
      Google OAuth; google-oauth-token; ya|29.a0{url:180}
      Google refresh; google-oauth-token; 1/|/0{url:62}
      Google OAuth client; google-client-secret; GOC|SPX-{url:28}
      Firebase; firebase-key; {url:11}^:AP|A91b{url:134}
      DigitalOcean; digitalocean-token; do|p_v1_{hex:64}
      DigitalOcean OAuth; digitalocean-token; do|o_v1_{hex:64}
      Heroku; heroku-key; HR|KU-AA{url:58}
      Heroku uuid; secret-assignment; HEROKU_API|_KEY={uuid:1}
      Fly; fly-token; fo|1_{url:43}
      Fly macaroon; fly-token; fm|2_{base64:120}
      Supabase; supabase-key; sb|p_{hex:40}
      Supabase secret; supabase-key; sb|_secret_{url:32}
      Neon; neon-key; np|g_{alnum:12}
      Netlify; netlify-token; nf|p_{alnum:36}
      Render; render-key; rn|d_{alnum:32}
      Vercel; vercel-token; vc|k_{alnum:56}
      Deno; deno-token; dd|p_{alnum:36}
      Cloudflare origin; cloudflare-key; v1|.0-{hex:24}-{hex:146}
      Alibaba; alibaba-key; LT|AI{alnum:20}
      Yandex; yandex-key; AQ|VN{alnum:36}
      PlanetScale; planetscale-token; psc|ale_tkn_{url:43}
      Brevo; brevo-key; xkey|sib-{hex:64}-{alnum:16}
      SendGrid; sendgrid-key; S|G.{url:22}.{url:43}
      Twilio key; twilio-key; S|K{hex:32}
      Twilio account; twilio-key; A|C{hex:32}", "{hex:32}"
      Mailchimp; mailchimp-key; {hex:32}-u|s12
      Mailgun; mailgun-key; ke|y-{hex:32}
      Shopify; shopify-token; shp|at_{hex:32}
      Shopify secret; shopify-token; shp|ss_{hex:32}
      Square; square-token; sq0|atp-{url:22}
      Square OAuth; square-token; sq0|csp-{url:43}
      Square access; square-token; EA|AA{alnum:60}
      Facebook; facebook-token; EA|AC{alnum:160}
      Telegram; telegram-token; {digits:10}:A|A{url:33}
      Telegram address; telegram-token; https://api.telegram.org/bot^{digits:10}:A|A{url:33}/getMe
      Discord; discord-token; {discord:24}.{alnum:6}.{url:38}
      Discord webhook; discord-webhook; https://discord.com/a^pi/web|hooks/{digits:18}/{url:68}
      Slack app; slack-token; xa|pp-1-{upper36:11}-{digits:13}-{hex:64}
      Slack session; slack-token; xo|xc-{digits:12}-{digits:13}-{digits:13}-{hex:64}
      Stripe webhook; stripe-key; wh|sec_{alnum:32}
      Grafana service; grafana-token; gl|sa_{alnum:32}_{hex:8}
      Grafana cloud; grafana-token; gl|c_eyJvIjoi{alnum:100}
      Grafana key; grafana-token; eyJr|Ijoi{alnum:80}
      Sentry organization; sentry-token; sn|trys_eyJpYXQiO{alnum:150}
      Sentry user; sentry-token; sn|tryu_{hex:64}
      New Relic; new-relic-key; NR|AK-{upper36:27}
      Dynatrace; dynatrace-token; dt|0c01.{upper36:24}.{upper36:64}
      Atlassian; atlassian-token; ATA|TT3xFfGF0{url:177}
      Atlassian admin; atlassian-token; ATC|TT3xFfG{url:170}
      Bitbucket; bitbucket-token; AT|BB{alnum:32}
      Notion; notion-token; nt|n_{digits:11}{alnum:35}
      Notion of old; notion-token; sec|ret_{alnum:43}
      Linear; linear-key; lin|_api_{alnum:40}
      Figma; figma-token; fi|gd_{url:40}
      Typeform; typeform-token; tf|p_{url:59}
      Postman; postman-key; PM|AK-{hex:24}-{hex:34}
      Tailscale; tailscale-key; tsk|ey-auth-k{alnum:11}CNTRL-{alnum:32}
      Okta header; okta-token; Authorization: ^SS|WS 00{url:40}
      Okta; okta-token; ^okta|: 00{url:40}
      Docker Hub; docker-token; dckr|_pat_{url:27}
      Docker Hub organization; docker-token; dckr|_oat_{url:32}
      Artifactory; artifactory-token; AK|Cp{alnum:69}
      Artifactory reference; artifactory-token; cmV|mdGtu{alnum:56}
      Terraform Cloud; terraform-token; {alnum:14}.atl|asv1.{alnum:67}
      Doppler; doppler-token; dp|.pt.{alnum:43}
      Doppler service; doppler-token; dp|.st.prod.{alnum:43}
      1Password account; onepassword-key; A3|-{upper36:6}-{upper36:6}-{upper36:5}-{upper36:5}-{upper36:5}-{upper36:5}
      1Password service; onepassword-token; op|s_eyJ{alnum:300}
      Pulumi; pulumi-token; pu|l-{hex:40}
      RubyGems; rubygems-key; ruby|gems_{hex:48}
      Clojars; clojars-token; CLO|JARS_{hex:60}
      Sonar; sonar-token; sq|u_{hex:40}
      Sourcegraph; sourcegraph-token; sg|p_{hex:40}
      Buildkite; buildkite-token; bk|ua_{hex:40}
      CircleCI; circleci-token; CCI|PAT_{alnum:22}_{hex:40}
      OpenShift; openshift-token; sha^|256~{url:43}
      ReadMe; readme-key; rd|me_{alnum:70}
      Shippo; shippo-token; ship|po_live_{hex:40}
      EasyPost; easypost-key; EZ|AK{alnum:54}
      Braintree; braintree-token; access_|token$production${alnum36:16}${hex:32}
      Plaid; plaid-token; access|-production-{uuid:1}
      GitLab routable; gitlab-token; gl|pat-{url:27}.01.{alnum36:9}
      Teams; teams-webhook; https://x.webhook.office.com/webhookb2/{uuid:1}@{uuid:1}^/Incoming|Webhook/{hex:32}/{uuid:1}
      age; private-key; AGE-SECRET|-KEY-1{bech32:58}
      age, post-quantum; private-key; AGE-SECRET|-KEY-PQ-1{bech32:58}
      PuTTY; private-key; PuTTY-User|-Key-File-3: ssh-ed25519/Encryption: none/Comment: me/Public-Lines: 1/{base64:64}/Private-Lines: 1/{base64:47}=
      JWK; private-key; {"kty":"EC","crv":"P-256","x":"{url:43}","y":"{url:43}","^d|":"{url:43}"}
      JWK, sorted; private-key; {"crv":"Ed25519","d|":"{url:43}","^kty":"OKP","x":"{url:43}"}
      JWK, symmetric; private-key; {"kty":"oct","^k|":"{url:43}"}
      WireGuard; private-key; [Interface]/^Private|Key = {base64:42}A=
      WireGuard, shared; private-key; [Peer]/^Preshared|Key = {base64:42}A=
      Ethereum; private-key; "^private|Key": "0x{hex:64}"
      PostgreSQL address; url-password; postgres|ql://app:{alnum:4}-{alnum:8}9@db.internal:5432/app
      MongoDB address; url-password; mongodb|+srv://app:{alnum:11}7@cluster0.a1b2c.mongodb.net/app
      MySQL address; url-password; mysql|+pymysql://root:{alnum:9}!1@10.0.0.7/app
      Redis address; url-password; redis|://:{alnum:15}3@cache.internal:6379/0
      AMQP address; url-password; amqps|://app:{alnum:9}x1@mq.internal/v
      Git address; url-password; https|://oauth2:{alnum:19}2@gitlab.internal/team/model.git
      Password with its sign; url-password; postgres|://app:P@ss{alnum:6}1@db.internal/app
      ADO; connection-string; Server=tcp:db,1433;User ID=app;^Pass|word={alnum:9}!1;Encrypt=True
      JDBC; connection-string; jdbc:postgresql://db/app?user=app&^pass|word={alnum:9}x1
      Basic header; authorization-header; Authorization: ^Bas|ic {basic:16}
      Bearer header; authorization-header; Authorization: ^Bear|er {alnum:31}7
      .env of a key; secret-assignment; PINECONE|_KEY={digits:1}{alnum:30}x
      camel case; secret-assignment; {"^client|Secret": "{digits:1}{alnum:30}x"}
      """;

  private static final Pattern DRAWN = Pattern.compile("\\{([a-z0-9]+):([0-9]+)\\}");
  private static final String BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";

  private static final Map<String, String> ALPHABETS =
      Map.ofEntries(
          Map.entry("hex", SecretSamples.HEX),
          Map.entry("alnum", SecretSamples.ALNUM),
          Map.entry("alnum36", SecretSamples.DIGITS + "abcdefghijklmnopqrstuvwxyz"),
          Map.entry("upper36", SecretSamples.DIGITS + SecretSamples.UPPER),
          Map.entry("word", SecretSamples.ALNUM + "_"),
          Map.entry("url", SecretSamples.BASE64URL),
          Map.entry("base64", SecretSamples.BASE64),
          Map.entry("digits", "123456789"),
          Map.entry("bech32", BECH32));

  private VendorSamples() {}

  static List<Sample> all(long seed) {
    Random random = new Random(seed);
    return TABLE.lines().map(line -> sample(line.split("; ", 3), random)).toList();
  }

  private static Sample sample(String[] line, Random random) {
    String template = line[2].replace("|", "");
    if (line[0].equals("PuTTY") || line[0].startsWith("WireGuard")) {
      template = template.replace("/", "\n");
    }
    StringBuilder text = new StringBuilder();
    Matcher drawn = DRAWN.matcher(template);
    while (drawn.find()) {
      drawn.appendReplacement(text, "");
      text.append(draw(drawn.group(1), Integer.parseInt(drawn.group(2)), random));
    }
    drawn.appendTail(text);
    int at = text.indexOf("^");
    if (at >= 0) {
      text.deleteCharAt(at);
    }
    return new Sample(line[0], line[1], text.toString(), Math.max(at, 0));
  }

  private static String draw(String alphabet, int length, Random random) {
    SecretSamples samples = new SecretSamples(random.nextLong());
    return switch (alphabet) {
      case "uuid" -> samples.uuid();
      case "basic" ->
          SecretSamples.base64("me:" + samples.draw(SecretSamples.ALNUM, length - 1) + "7");
      case "discord" ->
          SecretSamples.base64(samples.draw("123456789", length * 3 / 4 + 1))
              .replace("=", "")
              .substring(0, length);
      default -> samples.draw(Objects.requireNonNull(ALPHABETS.get(alphabet)), length);
    };
  }
}
