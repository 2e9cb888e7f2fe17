package dev.bourse.secrets;

import static dev.bourse.secrets.SecretText.ALNUM;
import static dev.bourse.secrets.SecretText.BASE64;
import static dev.bourse.secrets.SecretText.BASE64URL;
import static dev.bourse.secrets.SecretText.DIGIT;
import static dev.bourse.secrets.SecretText.DOT;
import static dev.bourse.secrets.SecretText.EQUALS;
import static dev.bourse.secrets.SecretText.HEX;
import static dev.bourse.secrets.SecretText.NOTHING;
import static dev.bourse.secrets.SecretText.PLUS_SLASH;
import static dev.bourse.secrets.SecretText.WORD;

import dev.bourse.secrets.SecretRule.Judge;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/** Credentials of services that have several parts, or a mark that is not at their start. */
final class ServiceShapes {
  private static final String HEX_DIGITS = "0123456789abcdef";
  private static final String DIGITS = "0123456789";
  static final String LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

  /** The greatest distance of a value from the name of its service on the same line. */
  private static final int NEAR = 80;

  /** The greatest distance of the signature from other parts of an Azure address's query. */
  private static final int QUERY = 256;

  private ServiceShapes() {}

  static List<SecretRule> rules() {
    return List.of(
        SecretRule.of("sendgrid-key", ServiceShapes::sendGrid, combined("SG.", LETTERS + "-_")),
        SecretRule.of("telegram-token", ServiceShapes::telegram, combined(":AA", LETTERS + "-_")),
        SecretRule.of("discord-token", ServiceShapes::discord, discordStarts()),
        SecretRule.of("discord-webhook", ServiceShapes::discordWebhook, List.of("pi/webhooks/")),
        SecretRule.of("slack-token", ServiceShapes::slackApp, List.of("pp-1-")),
        SecretRule.of("teams-webhook", ServiceShapes::teamsWebhook, List.of("/IncomingWebhook/")),
        SecretRule.of(
            "azure-key",
            ServiceShapes::azureNamedKey,
            List.of("ntKey", "ssKey", "nt_key", "NT_KEY")),
        SecretRule.of(
            "azure-key",
            ServiceShapes::azureMarkedKey,
            List.of("JQQJ99", "+AStA", "+ASbA", "+ACRA")),
        SecretRule.of("azure-client-secret", ServiceShapes::azureClientSecret, azureSecretMarks()),
        SecretRule.of("azure-sas", ServiceShapes::azureSignature, List.of("sig=")),
        SecretRule.of("twilio-key", ServiceShapes::twilio, twilioStarts()),
        SecretRule.of("terraform-token", ServiceShapes::terraform, List.of(".atlasv1.")),
        SecretRule.of(
            "doppler-token",
            ServiceShapes::doppler,
            List.of("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit.")),
        SecretRule.of(
            "onepassword-key",
            ServiceShapes::onePassword,
            combined("A3-", "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + DIGITS)),
        SecretRule.of("mailchimp-key", ServiceShapes::mailchimp, combined("-us", DIGITS)),
        SecretRule.of(
            "modal-token",
            SecretVendors.exactly(ALNUM, 21, 21),
            joined(combined("ak-", LETTERS), combined("as-", LETTERS))),
        SecretRule.of(
            "replicate-token", SecretVendors.exactly(BASE64URL, 36, 36), combined("r8_", LETTERS)),
        SecretRule.of(
            "fireworks-key", SecretVendors.exactly(ALNUM, 20, 31), combined("fw_", LETTERS)),
        SecretRule.of(
            "elevenlabs-key", SecretVendors.exactly(HEX, 47, 47), combined("sk_", HEX_DIGITS)),
        SecretRule.of(
            "wandb-key",
            named(HEX, 40),
            List.of("ndb.login(", "ndb login ", "ndb.ai", "WANDB_KEY")),
        SecretRule.of("okta-token", ServiceShapes::okta, List.of("SSWS ", "okta", "OKTA", "Okta")),
        SecretRule.of("kaggle-key", ServiceShapes::kaggle, List.of("\"key\"", "\"key\\\"")));
  }

  /**
   * Three letters are too short for a keyword, so they are combined with each possible follower.
   */
  static List<String> combined(String start, String followers) {
    return followers.chars().mapToObj(c -> start + (char) c).toList();
  }

  private static List<String> joined(List<String> first, List<String> second) {
    List<String> all = new ArrayList<>(first);
    all.addAll(second);
    return all;
  }

  /** {@code SG.}, 22 characters, a dot, 43 characters. */
  private static int sendGrid(SecretText text, int at, int after) {
    int start = at + 3;
    int middle = text.run(start, BASE64URL, start + 25);
    if (middle - start < 20 || text.at(middle) != '.' || !text.startsWord(at)) {
      return NOTHING;
    }
    int end = text.run(middle + 1, BASE64URL, middle + 40);
    return end - middle == 40 && text.isRandom(middle + 1, end) ? at : NOTHING;
  }

  /** The number of a bot, a colon, 35 characters; in addresses after {@code bot}. */
  private static int telegram(SecretText text, int at, int after) {
    int start = at;
    while (start > at - 11 && text.is(start - 1, DIGIT)) {
      start--;
    }
    int digits = at - start;
    int end = text.run(at + 1, BASE64URL, at + 39);
    int length = end - at - 1;
    boolean fits = length == 35 || (length < 38 && length > 35 && text.isBinary(end));
    return digits >= 8
            && digits <= 10
            && fits
            && (text.startsWord(start) || text.hasBefore(start, "bot"))
            && text.isRandom(at + 3, at + 36)
        ? start
        : NOTHING;
  }

  /** The number of a bot in base64, its time and its signature. */
  private static int discord(SecretText text, int at, int after) {
    if (!text.startsWord(at) || text.at(at - 1) == '-') {
      return NOTHING;
    }
    int first = text.run(at, BASE64URL, at + 29);
    if (first - at < 22 || text.at(first) != '.') {
      return NOTHING;
    }
    int second = text.run(first + 1, BASE64URL, first + 8);
    if (second - first != 7 || text.at(second) != '.') {
      return NOTHING;
    }
    int end = text.run(second + 1, BASE64URL, second + 28);
    return end - second == 28 && text.isRandom(second + 1, end) ? at : NOTHING;
  }

  /** Base64 of every three digits, the possible starts of bot numbers. */
  private static List<String> discordStarts() {
    List<String> starts = new ArrayList<>();
    for (int number = 100; number < 1000; number++) {
      starts.add(encoded(number));
    }
    return starts;
  }

  private static String encoded(int number) {
    return Base64.getEncoder()
        .encodeToString(Integer.toString(number).getBytes(StandardCharsets.ISO_8859_1));
  }

  private static int discordWebhook(SecretText text, int at, int after) {
    int id = text.run(after, DIGIT, after + 21);
    int end = text.run(id + 1, BASE64URL, id + 51);
    boolean isDiscord =
        text.hasBefore(at, "discord.com/a") || text.hasBefore(at, "discordapp.com/a");
    return isDiscord
            && id - after >= 17
            && text.at(id) == '/'
            && end - id == 51
            && text.isRandom(id + 1, end)
        ? at
        : NOTHING;
  }

  /** {@code xapp-1-} and the parts of an application's token. */
  private static int slackApp(SecretText text, int at, int after) {
    int start = at - 2;
    int end = text.run(after, ALNUM | SecretText.DASH, after + 60);
    return text.has(start, "xa")
            && end - after == 60
            && text.startsToken(start)
            && text.isRandom(after, end)
        ? start
        : NOTHING;
  }

  private static int teamsWebhook(SecretText text, int at, int after) {
    int end = text.run(after, HEX, after + 32);
    return end - after == 32 && text.isRandom(after, end) ? at : NOTHING;
  }

  /** The key of an account or a bus, in a connection string or a setting. */
  private static int azureNamedKey(SecretText text, int at, int after) {
    int start = text.value(after);
    int name = text.nameBefore(after, "sharedaccesskey", "accountkey", "account_key");
    if (start == NOTHING || name == NOTHING) {
      return NOTHING;
    }
    int end = text.run(start, BASE64, start + 43);
    return end - start == 43 && text.isRandom(start, end) ? name : NOTHING;
  }

  /** A key with a mark of its kind in its last third. */
  private static int azureMarkedKey(SecretText text, int at, int after) {
    int start = at;
    int limit = at - 90;
    while (start > limit && text.is(start - 1, BASE64)) {
      start--;
    }
    int end = text.run(after, BASE64, after + 48);
    int length = end - start;
    boolean fits =
        text.at(at) == '+' ? length == 86 && text.has(end, "==") : length >= 80 && length <= 90;
    return fits && at - start >= 40 && text.isRandom(start, start + 40) ? start : NOTHING;
  }

  /** Three characters, a digit, {@code Q~} and 31 to 34 characters. */
  private static int azureClientSecret(SecretText text, int at, int after) {
    int start = at - 3;
    int end = at + 3;
    int limit = end + 36;
    while (end < limit && (text.is(end, BASE64URL | DOT) || text.at(end) == '~')) {
      end++;
    }
    int length = end - at - 3;
    boolean fits = length >= 31 && (length <= 34 || (length == 35 && text.isBinary(end)));
    return fits
            && text.run(start, BASE64URL | DOT, at) == at
            && text.startsWord(start)
            && text.isRandom(at + 3, end)
        ? start
        : NOTHING;
  }

  private static List<String> azureSecretMarks() {
    List<String> marks = new ArrayList<>();
    DIGITS.chars().forEach(digit -> marks.addAll(combined((char) digit + "Q~", LETTERS + "_.-~")));
    return marks;
  }

  /** The signature of an address that grants access on its own. */
  private static int azureSignature(SecretText text, int at, int after) {
    int before = text.at(at - 1);
    if (before != '?' && before != '&' && before != ';') {
      return NOTHING;
    }
    int end = after;
    while (end < after + 60 && (text.is(end, BASE64 | EQUALS) || text.at(end) == '%')) {
      end++;
    }
    return end - after >= 43 && text.isRandom(after, after + 43) && isInSignedQuery(text, at, end)
        ? at
        : NOTHING;
  }

  private static boolean isInSignedQuery(SecretText text, int at, int end) {
    for (int i = at - 1; i > at - QUERY && text.at(i) > ' '; i--) {
      if (isSigned(text, i)) {
        return true;
      }
    }
    for (int i = end; i < end + QUERY && text.at(i) > ' '; i++) {
      if (isSigned(text, i)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isSigned(SecretText text, int at) {
    return text.at(at) == '=' && (text.has(at - 2, "sv=20") || text.has(at - 2, "se=20"));
  }

  /** {@code SK} and 32 hexadecimal digits, with an account's number or 32 more digits near it. */
  private static int twilio(SecretText text, int at, int after) {
    int start = at + 2;
    int end = start + 32;
    int word = text.run(start, WORD, start + 34) - start;
    if ((word != 32 && !(word == 33 && text.isBinary(end + 1)))
        || !text.startsWord(at)
        || text.run(start, HEX, end) != end
        || !text.isRandom(start, end)) {
      return NOTHING;
    }
    return text.at(at) == 'S' || wordOf(text, HEX, 32, end, end + NEAR) != NOTHING ? at : NOTHING;
  }

  private static List<String> twilioStarts() {
    List<String> starts = new ArrayList<>();
    HEX_DIGITS
        .chars()
        .forEach(
            digit -> {
              starts.addAll(combined("SK" + (char) digit, HEX_DIGITS));
              starts.addAll(combined("AC" + (char) digit, HEX_DIGITS));
            });
    return starts;
  }

  private static int terraform(SecretText text, int at, int after) {
    int start = at - 14;
    int end = text.run(after, BASE64URL, after + 60);
    return end - after == 60
            && text.run(start, ALNUM, at) == at
            && text.startsWord(start)
            && text.isRandom(after, end)
        ? start
        : NOTHING;
  }

  /** A kind, for services also an environment's name, and 40 to 44 characters. */
  private static int doppler(SecretText text, int at, int after) {
    int start = after;
    int end = text.run(start, BASE64URL, start + 40);
    if (text.at(end) == '.') {
      start = end + 1;
      end = text.run(start, BASE64URL, start + 40);
    }
    return end - start == 40 && text.startsWord(at) && text.isRandom(start, end) ? at : NOTHING;
  }

  /** Groups of capital letters and digits: 6, 11 or 6 and 5, and three of 5. */
  private static int onePassword(SecretText text, int at, int after) {
    if (!text.startsWord(at)) {
      return NOTHING;
    }
    int end = text.run(at + 3, ALNUM | SecretText.DASH, at + 50);
    end = text.isBinary(end) && text.at(end - 1) > 'Z' ? end - 1 : end;
    String[] groups = text.string(at + 3, end).split("-", -1);
    int[] lengths = Arrays.stream(groups).mapToInt(String::length).toArray();
    boolean fits =
        Arrays.equals(lengths, new int[] {6, 11, 5, 5, 5})
            || Arrays.equals(lengths, new int[] {6, 6, 5, 5, 5, 5});
    for (int i = at + 3; i < end; i++) {
      fits &= text.at(i) <= 'Z';
    }
    return fits && text.isRandom(at + 3, end) ? at : NOTHING;
  }

  private static int mailchimp(SecretText text, int at, int after) {
    int start = at - 32;
    return text.run(start, HEX, at) == at
            && text.startsWord(start)
            && text.run(after, DIGIT, after + 2) <= after + 1
            && text.isRandom(start, at)
        ? start
        : NOTHING;
  }

  /** A value of 42 characters after the scheme or the service's name. */
  private static int okta(SecretText text, int at, int after) {
    int limit = text.at(at) == 'S' ? after + 2 : after + NEAR;
    int start = wordOf(text, BASE64URL, 42, after, limit);
    return start != NOTHING && text.has(start, "00") ? at : NOTHING;
  }

  /** {@code {"username": "…", "key": "…"}}. */
  private static int kaggle(SecretText text, int at, int after) {
    int start = text.value(after);
    if (start == NOTHING) {
      return NOTHING;
    }
    int end = text.run(start, WORD, start + 33);
    if (end - start != 32 || text.run(start, HEX, end) != end || !text.isRandom(start, end)) {
      return NOTHING;
    }
    for (int i = at - 1; i > at - NEAR && text.at(i) != '{'; i--) {
      if (text.has(i, "username")) {
        return at + 1;
      }
    }
    for (int i = end; i < end + NEAR && text.at(i) != '}'; i++) {
      if (text.has(i, "username")) {
        return at + 1;
      }
    }
    return NOTHING;
  }

  /** A random word of a fixed length near the name of its service, on the same line. */
  private static Judge named(int kind, int length) {
    return (text, at, after) ->
        wordOf(text, kind, length, after, after + NEAR) != NOTHING ? at : NOTHING;
  }

  /**
   * The next random word of a length; words after {@code @} or {@code /} are skipped, because
   * revision names stand there.
   */
  private static int wordOf(SecretText text, int kind, int length, int from, int limit) {
    int i = from;
    while (i < limit && text.at(i) != NOTHING && text.at(i) != '\n') {
      if (!text.is(i, BASE64URL)) {
        i++;
        continue;
      }
      int end = text.run(i, BASE64URL, i + length + 2);
      boolean fits = end - i == length || (end - i == length + 1 && text.isBinary(end));
      int before = text.at(i - 1);
      if (fits
          && before != '@'
          && !text.is(i - 1, PLUS_SLASH | DOT)
          && text.run(i, kind, i + length) == i + length
          && text.isRandom(i, i + length)) {
        return i;
      }
      i = text.run(end, BASE64URL, limit);
    }
    return NOTHING;
  }
}
