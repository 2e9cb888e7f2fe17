package dev.bourse.secrets;

import static dev.bourse.secrets.SecretText.ALNUM;
import static dev.bourse.secrets.SecretText.BASE64URL;
import static dev.bourse.secrets.SecretText.DASH;
import static dev.bourse.secrets.SecretText.NOTHING;
import static dev.bourse.secrets.SecretText.WORD;

import dev.bourse.core.SecretPrefix;
import dev.bourse.core.Secrets;
import dev.bourse.core.TokenSecret;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * One kind of credential: the keywords it cannot do without, and what judges the text around one.
 *
 * @param name what a finding is called; part of what the API answers
 * @param keywords at least four bytes each
 * @param judge made anew for each scan from the lower-case name of the file; may remember what it
 *     has judged
 */
record SecretRule(String name, List<String> keywords, Function<String, Judge> judge) {
  /** Says whether a credential is where a keyword was found. Keywords come in order of place. */
  interface Judge {
    /**
     * The credential's place, {@link SecretText#NOTHING} when there is none. Its work must be
     * bounded, by itself or over the keywords of a file, whatever the text is.
     *
     * @param at where the keyword begins
     * @param after where it ends
     */
    int judge(SecretText text, int at, int after);
  }

  private static final String LETTERS_AND_DIGITS =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

  /** All rules; where two begin at the same place the earlier one is named. */
  static final List<SecretRule> ALL =
      List.of(
          rule("bourse-token", SecretRule::bourseToken, ownPrefixes(true)),
          rule("bourse-token", shape(ALNUM, Secrets.LENGTH), ownPrefixes(false)),
          rule("private-key", SecretShapes::privateKey, "-----BEGIN "),
          ruleOfScan("aws-access-key", file -> new AwsJudge(), "AKIA", "ASIA"),
          rule(
              "aws-access-key",
              SecretShapes::awsSecret,
              words(
                  """
                  aws_secret_access_key AWS_SECRET_ACCESS_KEY aws_secret_key AWS_SECRET_KEY \
                  ecretAccessKey\
                  """)),
          rule("github-token", shape(ALNUM, 36), "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
          rule("github-token", shape(WORD, 60), "github_pat_"),
          rule(
              "gitlab-token",
              shape(BASE64URL, 20),
              words(
                  "glpat- gldt- glrt- glft- glptt- glcbt- glimt- gloas- glsoat- glagent- glffct-")),
          rule(
              "slack-token", shape(ALNUM | DASH, 36), words("xoxa- xoxb- xoxp- xoxr- xoxs- xoxe-")),
          rule("slack-webhook", SecretShapes::slackWebhook, "hooks.slack.com/"),
          rule("stripe-key", shape(ALNUM, 20), "sk_live_", "rk_live_"),
          rule("google-api-key", exactShape(BASE64URL, 35, 35), "AIza"),
          rule("google-client-secret", shape(BASE64URL, 28), "GOCSPX-"),
          rule("hugging-face-token", shape(ALNUM, 33), followedByOne("hf_", LETTERS_AND_DIGITS)),
          rule("hugging-face-token", shape(ALNUM, 34), "api_org_"),
          rule("npm-token", shape(ALNUM, 36), "npm_"),
          rule("pypi-token", shape(BASE64URL, 50), "pypi-AgE"),
          rule("vault-token", exactShape(BASE64URL, 24, 1024), "hvs.", "hvb.", "hvr."),
          rule("anthropic-key", shape(BASE64URL, 40), "sk-ant-"),
          rule("openai-key", shape(BASE64URL, 40), "sk-proj-", "sk-svcacct-", "sk-admin-"),
          rule("openai-key", exactShape(ALNUM, 31, 63), followedByOne("sk-", LETTERS_AND_DIGITS)),
          rule("jwt", SecretShapes::jsonWebToken, followedByOne("eyJ", jwtFourth())),
          ruleOfScan(
              "kubeconfig",
              file -> new KubeconfigJudge(),
              words("client-key-data users: users\" users\\ token: token\" token\\")),
          ruleOfScan("docker-config", file -> new DockerJudge(), "\"auth"),
          rule("npmrc", SecretShapes::npmrc, "_auth"),
          ruleOfScan("pypirc", SecretShapes::pypirc, "password"),
          rule("netrc", SecretShapes::netrc, "machine", "default login"),
          ruleOfScan(
              "secret-assignment",
              AssignmentJudge::new,
              words(
                  """
                  SECRET TOKEN PASSWORD PASSWD PASSPHRASE _PASS= _PWD= API_KEY APIKEY PRIVATE_KEY \
                  ACCESS_KEY secret password passwd api_key apikey apiKey private_key access_key \
                  access_token auth_token\
                  """)));

  private static String[] words(String words) {
    return words.split(" ");
  }

  private static SecretRule rule(String name, Judge judge, String... keywords) {
    return new SecretRule(name, List.of(keywords), file -> judge);
  }

  private static SecretRule ruleOfScan(
      String name, Function<String, Judge> judge, String... keywords) {
    return new SecretRule(name, List.of(keywords), judge);
  }

  private static String[] ownPrefixes(boolean withChecksum) {
    return Arrays.stream(SecretPrefix.values())
        .filter(prefix -> prefix.hasChecksum() == withChecksum)
        .map(SecretPrefix::text)
        .toArray(String[]::new);
  }

  /** A keyword and at least so many random characters. */
  private static Judge shape(int kind, int least) {
    return (text, at, after) -> {
      // No more is read than what must be there: keywords within it are near, so reading on to the
      // end for each of them would square the work.
      int end = text.run(after, kind, after + least);
      return end - after == least && text.startsToken(at) && text.isRandom(after, end)
          ? at
          : NOTHING;
    };
  }

  /**
   * A keyword that begins a word and so many random characters; one or two more when a binary byte
   * follows, which then are what pickles and the like put after a string.
   */
  private static Judge exactShape(int kind, int least, int most) {
    return (text, at, after) -> {
      int end = text.run(after, kind, after + most + 3);
      int length = end - after;
      boolean fits = length <= most || (length <= most + 2 && text.isBinary(end));
      return length >= least
              && fits
              && text.startsWord(at)
              && text.startsToken(at)
              && text.isRandom(after, end)
          ? at
          : NOTHING;
    };
  }

  /** Three letters are too few to look for, so each is looked for with what may follow. */
  private static String[] followedByOne(String start, String followers) {
    List<String> keywords = new ArrayList<>();
    followers.chars().forEach(c -> keywords.add(start + (char) c));
    return keywords.toArray(String[]::new);
  }

  /** Base64url of a brace, a quote and a letter is eyJ and one of these. */
  private static String jwtFourth() {
    String base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    StringBuilder fourth = new StringBuilder();
    for (char c = 'a'; c <= 'z'; c++) {
      fourth.append(base64.charAt(c & 63));
    }
    return fourth.toString();
  }

  /** Our own tokens carry a checksum: nothing else passes, not even a placeholder. */
  private static int bourseToken(SecretText text, int at, int after) {
    int length = 55;
    if (text.at(after + 12) != '_' || text.run(after, ALNUM, after + 13) != after + 12) {
      return NOTHING;
    }
    int end = text.run(after + 13, ALNUM, at + length);
    return end - at == length
            && TokenSecret.parse(new String(text.bytes, at, length, StandardCharsets.ISO_8859_1))
                .isPresent()
        ? at
        : NOTHING;
  }
}
