package dev.bourse.secrets;

import static dev.bourse.secrets.SecretText.ALNUM;
import static dev.bourse.secrets.SecretText.BASE64;
import static dev.bourse.secrets.SecretText.BASE64URL;
import static dev.bourse.secrets.SecretText.BLANK;
import static dev.bourse.secrets.SecretText.DASH;
import static dev.bourse.secrets.SecretText.EQUALS;
import static dev.bourse.secrets.SecretText.NOTHING;
import static dev.bourse.secrets.SecretText.UPPER_LABEL;
import static dev.bourse.secrets.SecretText.VALUE;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/** Rules for credentials with more structure than a prefix. */
final class SecretShapes {
  private static final int PEM_LABEL = 48;
  private static final int PEM_HEADERS = 8;
  private static final int PEM_HEADER = 512;
  private static final int PEM_BODY = 24;

  private static final int JWT_HEADER = 1024;
  private static final int JWT_SIGNATURE = 20;

  private static final int AWS_SECRET = 40;
  private static final int NPM_SECRET = 16;
  private static final int HOST = 255;
  private static final int PASSWORD = 256;
  private static final int SHORTEST_PASSWORD = 6;

  /** Decoded payloads of tokens that are common in documentation. */
  private static final List<String> SAMPLE_JWTS =
      List.of("\"sub\":\"1234567890\"", "{\"some\":\"payload\"}");

  private SecretShapes() {}

  static List<SecretRule> rules() {
    return List.of(
        SecretRule.of("private-key", SecretShapes::privateKey, List.of("-----BEGIN ")),
        new SecretRule("aws-access-key", List.of("AKIA", "ASIA"), file -> new AwsJudge()),
        SecretRule.of(
            "aws-access-key",
            SecretShapes::awsSecret,
            words(
                """
                aws_secret_access_key AWS_SECRET_ACCESS_KEY aws_secret_key AWS_SECRET_KEY \
                ecretAccessKey\
                """)),
        SecretRule.of("slack-webhook", SecretShapes::slackWebhook, List.of("hooks.slack.com/")),
        SecretRule.of(
            "hugging-face-token",
            SecretVendors.atLeast(ALNUM, 33),
            ServiceShapes.combined("hf_", ServiceShapes.LETTERS)),
        SecretRule.of(
            "openai-key",
            SecretVendors.exactly(ALNUM, 31, 63),
            ServiceShapes.combined("sk-", ServiceShapes.LETTERS)),
        SecretRule.of(
            "jwt", SecretShapes::jsonWebToken, ServiceShapes.combined("eyJ", jwtFourth())),
        new SecretRule(
            "kubeconfig",
            words("client-key-data users: users\" users\\ token: token\" token\\"),
            file -> new KubeconfigJudge()),
        new SecretRule("docker-config", List.of("\"auth"), file -> new DockerJudge()),
        SecretRule.of("npmrc", SecretShapes::npmrc, List.of("_auth")),
        new SecretRule("pypirc", List.of("password"), SecretShapes::pypirc),
        SecretRule.of("netrc", SecretShapes::netrc, List.of("machine", "default login")),
        new SecretRule(
            "secret-assignment",
            words(
                """
                SECRET TOKEN PASSWORD PASSWD PASSPHRASE _PASS= _PWD= APIKEY _KEY secret password \
                passwd api_key apikey apiKey private_key access_key access_token auth_token \
                lientSecret ecretKey sToken hToken iToken _key=\
                """),
            AssignmentJudge::new));
  }

  private static List<String> words(String words) {
    return List.of(words.split(" "));
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

  /**
   * The first line of a PEM private key of any kind and the start of its body; a whole key may be
   * longer than the view of a rule.
   */
  static int privateKey(SecretText text, int at, int after) {
    int labelEnd = text.run(after, UPPER_LABEL, after + PEM_LABEL);
    if ((!text.hasBefore(labelEnd, "private key") && !text.hasBefore(labelEnd, "private key block"))
        || !text.has(labelEnd, "-----")) {
      return NOTHING;
    }
    int i = skipLineEnd(text, labelEnd + 5);
    for (int header = 0; header < PEM_HEADERS; header++) {
      int nameEnd = text.run(i, ALNUM | DASH, i + 64);
      if (nameEnd == i || text.at(nameEnd) != ':') {
        break;
      }
      i = skipLineEnd(text, lineEnd(text, nameEnd, PEM_HEADER));
    }
    int end = text.run(i, BASE64, i + Randomness.JUDGED);
    return end - i >= PEM_BODY && text.randomness.isVaried(text.bytes, i, end) ? at : NOTHING;
  }

  /** A secret access key with its name, with or without its id nearby. */
  static int awsSecret(SecretText text, int at, int after) {
    int start = text.value(after);
    if (start == NOTHING) {
      return NOTHING;
    }
    return awsSecretEnd(text, start) != NOTHING && text.isRandom(start, start + AWS_SECRET)
        ? at
        : NOTHING;
  }

  /** The end of a likely secret access key, {@link SecretText#NOTHING} if it is not one. */
  static int awsSecretEnd(SecretText text, int start) {
    int end = text.run(start, BASE64, start + AWS_SECRET + 3);
    int length = end - start;
    boolean fits = length == AWS_SECRET || (length == AWS_SECRET + 1 && text.isBinary(end));
    return fits && !isHexadecimal(text, start) ? end : NOTHING;
  }

  private static boolean isHexadecimal(SecretText text, int start) {
    for (int i = start; i < start + AWS_SECRET; i++) {
      int c = text.at(i) | 0x20;
      if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) {
        return false;
      }
    }
    return true;
  }

  /** {@code hooks.slack.com/services/T…/B…/…}, and the same for workflows and triggers. */
  static int slackWebhook(SecretText text, int at, int after) {
    int end = text.run(after, BASE64URL | SecretText.PLUS_SLASH, after + 120);
    int last = end;
    while (last > after && text.at(last - 1) != '/') {
      last--;
    }
    boolean known =
        text.has(after, "services/T")
            || text.has(after, "workflows/T")
            || text.has(after, "triggers/");
    return known && end - last >= 20 && text.isRandom(last, end) ? at : NOTHING;
  }

  /** Three parts of base64url; the first is a JSON object that names an algorithm. */
  static int jsonWebToken(SecretText text, int at, int after) {
    if (!text.startsWord(at) || text.at(at - 1) == '-') {
      return NOTHING;
    }
    int headerEnd = text.run(after, BASE64URL, at + JWT_HEADER);
    if (text.at(headerEnd) != '.' || !isJwtHeader(text, at, headerEnd)) {
      return NOTHING;
    }
    int payload = headerEnd + 1;
    int payloadEnd = text.run(payload, BASE64URL, text.to());
    if (payloadEnd - payload < 8) {
      return NOTHING;
    }
    if (payloadEnd < text.to()) {
      int signature = payloadEnd + 1;
      int signatureEnd = text.run(signature, BASE64URL, signature + Randomness.JUDGED);
      if (text.at(payloadEnd) != '.'
          || signatureEnd - signature < JWT_SIGNATURE
          || !text.isRandom(signature, signatureEnd)) {
        return NOTHING;
      }
    } else if (payloadEnd - at < SecretText.AFTER) {
      return NOTHING; // the file ends here
    }
    int sampled = Math.min(payloadEnd, payload + 256);
    String claims = decoded(text, payload, sampled);
    return SAMPLE_JWTS.stream().anyMatch(claims::contains) ? NOTHING : at;
  }

  private static boolean isJwtHeader(SecretText text, int start, int end) {
    String header = decoded(text, start, end);
    return header.startsWith("{") && header.endsWith("}") && header.contains("\"alg\"");
  }

  /** The whole base64url groups of the range, decoded. */
  private static String decoded(SecretText text, int start, int end) {
    int rest = (end - start) % 4;
    int length = end - start - (rest == 1 ? 1 : 0);
    byte[] part = new byte[length];
    System.arraycopy(text.bytes, start, part, 0, length);
    return new String(Base64.getUrlDecoder().decode(part), StandardCharsets.ISO_8859_1);
  }

  /** {@code _authToken=…}, {@code _auth=…} or {@code _password=…} of an .npmrc. */
  static int npmrc(SecretText text, int at, int after) {
    int nameEnd = text.has(after, "Token") ? after + 5 : after;
    int i = text.run(nameEnd, SecretText.SPACE, nameEnd + 2);
    if (text.at(i) != '=') {
      return NOTHING;
    }
    i = text.run(i + 1, SecretText.SPACE, i + 3);
    if (text.at(i) == '"') {
      i++;
    }
    int end = text.run(i, BASE64 | BASE64URL | EQUALS, i + Randomness.JUDGED);
    return end - i >= NPM_SECRET && text.isRandom(i, end) ? at : NOTHING;
  }

  /** Any password in a file of that name; in other files the word alone is no evidence. */
  static SecretRule.Judge pypirc(String file) {
    if (!file.equals(".pypirc")) {
      return (text, at, after) -> NOTHING;
    }
    return (text, at, after) -> {
      int start = text.value(after);
      return start != NOTHING && isPassword(text, start) ? at : NOTHING;
    };
  }

  /** {@code machine HOST login NAME password …}, in any order after the host, on any lines. */
  static int netrc(SecretText text, int at, int after) {
    if (!text.startsLine(at)) {
      return NOTHING;
    }
    int i = after;
    if (text.at(at) == 'm') {
      int host = text.run(after, BLANK, after + 16);
      int hostEnd = text.run(host, BASE64URL | VALUE, host + HOST);
      // "machine learning …" is prose.
      if (host == after
          || !isHost(text, host, hostEnd)
          || Randomness.isPlaceholder(text.bytes, host, hostEnd)) {
        return NOTHING;
      }
      i = hostEnd;
    } else {
      i = after - "login".length();
    }
    for (int pairs = 0; pairs < 3; pairs++) {
      int name = text.skipBlanks(i, i + 64);
      if (name == i && pairs > 0) {
        return NOTHING;
      }
      if (text.has(name, "password")) {
        int start = text.skipBlanks(name + 8, name + 72);
        return start > name + 8 && isPassword(text, start) ? at : NOTHING;
      }
      if (!text.has(name, "login") && !text.has(name, "account")) {
        return NOTHING;
      }
      int value = text.skipBlanks(name + (text.at(name) == 'l' ? 5 : 7), name + 72);
      if (text.has(value, "anonymous")) {
        return NOTHING; // by convention, the password is the user's mail address
      }
      i = wordEnd(text, value, value + HOST);
    }
    return NOTHING;
  }

  private static boolean isHost(SecretText text, int start, int end) {
    if (text.has(start, "localhost")) {
      return true;
    }
    for (int i = start; i < end - 1; i++) {
      if (text.at(i) == '.' && text.is(i + 1, ALNUM)) {
        return true;
      }
    }
    return false;
  }

  /** A person's password need not look random; it must not be a placeholder or a variable. */
  private static boolean isPassword(SecretText text, int start) {
    int end = wordEnd(text, start, start + PASSWORD);
    int first = text.at(start);
    boolean variable = first == '$' || first == '<' || first == '%' || first == '{' || first == '*';
    return end - start >= SHORTEST_PASSWORD
        && !variable
        && !Randomness.isPlaceholder(text.bytes, start, end)
        && isMixed(text, start, end);
  }

  /** Whether the text has at least two different characters. */
  private static boolean isMixed(SecretText text, int start, int end) {
    for (int i = start + 1; i < end; i++) {
      if (text.at(i) != text.at(start)) {
        return true;
      }
    }
    return false;
  }

  private static int wordEnd(SecretText text, int start, int limit) {
    int i = start;
    while (i < limit) {
      int c = text.at(i);
      if (c == NOTHING || c <= ' ' || c == '"' || c == '\\' || c >= 0x7f) {
        break;
      }
      i++;
    }
    return i;
  }

  private static int lineEnd(SecretText text, int start, int most) {
    int i = start;
    int limit = start + most;
    while (i < limit && text.at(i) != NOTHING && text.at(i) != '\n') {
      if (text.at(i) == '\\' && text.at(i + 1) == 'n') {
        break;
      }
      i++;
    }
    return i;
  }

  /** Skips a line break with its indentation, in source text and comments too. */
  private static int skipLineEnd(SecretText text, int start) {
    int i = start;
    int limit = start + 64;
    while (i < limit) {
      int c = text.at(i);
      if (c == '\\' && (text.at(i + 1) == 'n' || text.at(i + 1) == 'r')) {
        i += 2;
      } else if (text.is(i, BLANK) || (c != NOTHING && "\\\"',>#*|".indexOf(c) >= 0)) {
        i++;
      } else {
        break;
      }
    }
    return i;
  }
}
