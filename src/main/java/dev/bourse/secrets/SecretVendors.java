package dev.bourse.secrets;

import static dev.bourse.secrets.SecretText.ALNUM;
import static dev.bourse.secrets.SecretText.BASE64;
import static dev.bourse.secrets.SecretText.BASE64URL;
import static dev.bourse.secrets.SecretText.DASH;
import static dev.bourse.secrets.SecretText.DOT;
import static dev.bourse.secrets.SecretText.HEX;
import static dev.bourse.secrets.SecretText.NOTHING;
import static dev.bourse.secrets.SecretText.PLUS_SLASH;
import static dev.bourse.secrets.SecretText.WORD;

import dev.bourse.secrets.SecretRule.Judge;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Credentials with a prefix chosen by their issuer: one line for each alphabet and length.
 *
 * <p>After a prefix that ends in a separator, at least the given number of random characters must
 * follow. A prefix of letters alone also occurs in base64, so it must start a word and be followed
 * by exactly that number.
 */
final class SecretVendors {
  /**
   * Name, alphabet, number of random characters, prefixes. {@code =} demands exactly that number.
   */
  private static final String TABLE =
      """
      github-token alnum 36 ghp_ gho_ ghu_ ghs_ ghr_
      github-token word 60 github_pat_
      gitlab-token url 20 glpat- gldt- glrt- glrtr- glft- glptt- glcbt- glimt- gloas- glsoat- glagent- glffct-
      gitlab-token url 20 GR1348941
      slack-token dash 36 xoxa- xoxb- xoxp- xoxr- xoxs- xoxe-
      slack-token dash 64 xoxc-
      stripe-key alnum 20 sk_live_ rk_live_
      stripe-key base64 32 whsec_
      google-api-key url =35-35 AIza
      google-client-secret url 28 GOCSPX-
      google-oauth-token dots 60 ya29.
      google-oauth-token url =40-160 1//0
      firebase-key url 120 :APA91b
      hugging-face-token alnum 34 api_org_
      npm-token alnum 36 npm_
      pypi-token url 50 pypi-AgE
      anthropic-key url 40 sk-ant-
      openai-key url 40 sk-proj- sk-svcacct- sk-admin-
      openrouter-key hex 64 sk-or-v1-
      nvidia-key url 60 nvapi-
      groq-key alnum 48 gsk_
      xai-key word 70 xai-
      perplexity-key alnum 40 pplx-
      cerebras-key alnum 40 csk-
      together-key url 40 tgp_v1_
      jina-key url 40 jina_
      runpod-key alnum 40 rpa_
      pinecone-key word 60 pcsk_
      langsmith-key hex 32 lsv2_pt_ lsv2_sk_ ls__
      langfuse-key hexdash 36 sk-lf-
      wandb-key word 60 ndb_v1_
      kaggle-key hex 32 KGAT_
      prefect-key alnum 36 pnu_
      databricks-token hex =32-32 dapi
      dbt-token url 40 dbtc_ dbtu_
      aws-bedrock-key base64 =100-280 ABSK
      digitalocean-token hex 64 dop_v1_ doo_v1_ dor_v1_
      heroku-key url 36 HRKU-
      fly-token url 43 fo1_
      fly-token base64 60 fm1r_ fm1a_ fm2_
      supabase-key hex 40 sbp_
      supabase-key url 28 sb_secret_
      neon-key alnum 40 napi_
      neon-key alnum 12 npg_
      netlify-token alnum 36 nfp_
      render-key alnum 28 rnd_
      vercel-token alnum 40 vcp_ vci_ vca_ vcr_ vck_
      deno-token alnum 36 ddp_ ddw_
      cloudflare-key hexdash 100 v1.0-
      alibaba-key alnum =20-20 LTAI
      yandex-key url =35-38 AQVN
      planetscale-token dots 32 pscale_tkn_ pscale_pw_ pscale_oauth_
      brevo-key hex 64 xkeysib-
      shopify-token hex 32 shpat_ shpss_ shpca_ shppa_
      square-token url 22 sq0atp- sq0csp-
      square-token url =60-60 EAAA
      facebook-token alnum =100-400 EAAC EAAM
      grafana-token word 40 glsa_
      grafana-token base64 32 glc_
      grafana-token base64 70 eyJrIjoi
      sentry-token base64 60 sntrys_
      sentry-token hex 64 sntryu_
      new-relic-key alnum 27 NRAK-
      new-relic-key url 32 NRII-
      dynatrace-token dots 80 dt0c01.
      atlassian-token url 60 ATATT3 ATCTT3
      bitbucket-token alnum =32-32 ATBB
      bitbucket-token base64 40 BBDC-
      notion-token alnum 43 ntn_
      notion-token alnum =43-43 secret_
      linear-key alnum 40 lin_api_
      figma-token url 40 figd_
      typeform-token dots 40 tfp_
      postman-key hexdash 50 PMAK-
      tailscale-key url 24 tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook-
      docker-token url 27 dckr_pat_ dckr_oat_
      artifactory-token alnum =60-73 AKCp
      artifactory-token alnum =56-56 cmVmdGtu
      onepassword-token base64 100 ops_eyJ
      pulumi-token hex 40 pul-
      rubygems-key hex 48 rubygems_
      clojars-token alnum 60 CLOJARS_
      sonar-token hex 40 squ_ sqp_ sqa_
      sourcegraph-token hex 40 sgp_
      buildkite-token alnum 40 bkua_
      circleci-token url 40 CCIPAT_
      openshift-token url 43 256~
      readme-key alnum 60 rdme_
      shippo-token hex 40 shippo_live_
      easypost-key alnum =54-54 EZAK
      braintree-token alnum 16 access_token$production$
      plaid-token hexdash 36 access-production-
      mailgun-key hex =32-32 key-
      private-key alnum 50 AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1
      vault-token url =24-1024 hvs. hvb. hvr.
      """;

  private SecretVendors() {}

  static List<SecretRule> rules() {
    List<SecretRule> rules = new ArrayList<>();
    TABLE.lines().forEach(line -> rules.add(rule(line.split(" ", -1))));
    return rules;
  }

  private static SecretRule rule(String[] line) {
    int kind = alphabet(line[1]);
    String length = line[2];
    Judge judge;
    if (length.startsWith("=")) {
      String[] bounds = length.substring(1).split("-", -1);
      judge = exactly(kind, Integer.parseInt(bounds[0]), Integer.parseInt(bounds[1]));
    } else {
      judge = atLeast(kind, Integer.parseInt(length));
    }
    List<String> prefixes = List.of(Arrays.copyOfRange(line, 3, line.length));
    return new SecretRule(line[0], prefixes, file -> judge);
  }

  private static int alphabet(String name) {
    return switch (name) {
      case "hex" -> HEX;
      case "hexdash" -> HEX | DASH;
      case "alnum" -> ALNUM;
      case "dash" -> ALNUM | DASH;
      case "word" -> WORD;
      case "url" -> BASE64URL;
      case "dots" -> BASE64URL | DOT;
      case "base64" -> BASE64;
      default -> throw new IllegalArgumentException(name + " is not an alphabet");
    };
  }

  /** A keyword followed by at least {@code least} random characters. */
  static Judge atLeast(int kind, int least) {
    return (text, at, after) -> {
      // Reads only the mandatory characters: keywords can be close together, and reading to the end
      // for each of them would take quadratic time.
      int end = text.run(after, kind, after + least);
      return end - after == least && text.startsToken(at) && text.isRandom(after, end)
          ? at
          : NOTHING;
    };
  }

  /**
   * A keyword at the start of a word, followed by {@code least} to {@code most} random characters;
   * one or two more if a binary byte follows, because pickles and similar formats put such bytes
   * after a string.
   */
  static Judge exactly(int kind, int least, int most) {
    return (text, at, after) -> {
      int end = text.run(after, kind, after + most + 3);
      int length = end - after;
      boolean fits = length <= most || (length <= most + 2 && text.isBinary(end));
      return length >= least
              && fits
              && text.startsWord(at)
              // In base64, prefixes of letters also occur after its two signs.
              && !(text.is(after - 1, ALNUM) && text.is(at - 1, PLUS_SLASH))
              && text.startsToken(at)
              && text.isRandom(after, end)
          ? at
          : NOTHING;
    };
  }
}
