package dev.bourse.secrets;

import static dev.bourse.secrets.SecretText.DIGIT;
import static dev.bourse.secrets.SecretText.HEX;
import static dev.bourse.secrets.SecretText.LETTER;
import static dev.bourse.secrets.SecretText.NOTHING;
import static dev.bourse.secrets.SecretText.VALUE;
import static dev.bourse.secrets.SecretText.WORD;

/**
 * Finds settings with a name that suggests a secret and a value that looks random: a line of an
 * .env file, {@code API_KEY: …} of YAML, {@code "client_secret": "…"} of JSON, {@code
 * os.environ["TOKEN"] = "…"} of a program.
 */
final class AssignmentJudge implements SecretRule.Judge {
  private static final int LONGEST_NAME = 64;
  private static final int SHORTEST_VALUE = 16;
  private static final int LONGEST_VALUE = 512;
  private static final int SHORTEST_PART = 12;

  /** Names with these endings describe a secret and do not hold it. */
  private static final String[] ABOUT = {
    "_id",
    "_file",
    "_path",
    "_name",
    "_url",
    "_uri",
    "_dir",
    "_type",
    "_arn",
    "_ref",
    "public_key",
    "publishable_key",
    "cache_key",
    "host_key",
    "site_key",
    "primary_key",
    "foreign_key",
    "sort_key",
    "partition_key"
  };

  private final EnvironmentLines lines;

  AssignmentJudge(String file) {
    lines = new EnvironmentLines(file);
  }

  /**
   * Names and values that start before this offset were judged as parts of a longer one, and are
   * not judged again: the judgement of the whole covers its parts.
   */
  private long judged;

  @Override
  public int judge(SecretText text, int at, int end) {
    if (text.offset(at) < judged) {
      return NOTHING;
    }
    // The keyword may include the separator; the name ends before it.
    int after = text.at(end - 1) == '=' ? end - 1 : end;
    // MAX_TOKENS and TOKENIZER are not secrets; ACCESS_TOKEN and TOKEN_2 are.
    if (text.is(after, WORD) && text.at(after) != '_') {
      return NOTHING;
    }
    int start = at;
    while (start > at - LONGEST_NAME && text.is(start - 1, WORD)) {
      start--;
    }
    int nameEnd = text.run(after, WORD, after + LONGEST_NAME);
    judged = text.offset(nameEnd);
    int value = text.value(nameEnd);
    if (value == NOTHING || isAboutSecret(text, nameEnd) || isElsewhere(text, value)) {
      return NOTHING;
    }
    if (lines.isShortPassword(text, start, nameEnd)) {
      return start;
    }
    return isLongSecret(text, value) ? start : NOTHING;
  }

  private boolean isLongSecret(SecretText text, int value) {
    int end = valueEnd(text, value);
    // The judgement of a truncated value does not cover parts that start near its end.
    judged = text.offset(end - value < LONGEST_VALUE ? end : end - LONGEST_VALUE / 2);
    return end - value >= SHORTEST_VALUE
        && !isAddressOrCall(text, end)
        && (isUuid(text, value, end) ? text.isRandom(value, end) : hasSecretPart(text, value, end));
  }

  private static boolean isAboutSecret(SecretText text, int nameEnd) {
    for (String suffix : ABOUT) {
      if (text.hasBefore(nameEnd, suffix)) {
        return true;
      }
    }
    return false;
  }

  /** Whether the value is a path. */
  private static boolean isElsewhere(SecretText text, int value) {
    int first = text.at(value);
    int second = text.at(value + 1);
    return first == '/' || first == '~' || (first == '.' && (second == '/' || second == '.'));
  }

  /** The end of the value, or the place where it turns out to be an address. */
  private static int valueEnd(SecretText text, int value) {
    int limit = value + LONGEST_VALUE;
    int i = value;
    while (i < limit && text.is(i, VALUE)) {
      if (text.at(i) == ':' && text.has(i, "://")) {
        break;
      }
      i++;
    }
    return i;
  }

  private static boolean isAddressOrCall(SecretText text, int end) {
    int next = text.at(end);
    return next == '(' || next == '[' || next == '{' || next == '<' || next == '$' || next == ':';
  }

  /**
   * Whether a part between two of {@code - _ . : = , @ &} looks random: {@code my-secret-value-1}
   * and {@code meta-llama/Llama-2-7b-hf} have only short parts.
   */
  private static boolean hasSecretPart(SecretText text, int from, int to) {
    int start = from;
    while (start < to) {
      int end = start;
      boolean digit = false;
      boolean letter = false;
      while (end < to && !isSeparator(text.at(end))) {
        digit |= text.is(end, DIGIT);
        letter |= text.is(end, LETTER);
        end++;
      }
      if (digit && letter && end - start >= SHORTEST_PART && text.isRandom(start, end)) {
        return true;
      }
      start = end + 1;
    }
    return false;
  }

  private static boolean isUuid(SecretText text, int from, int to) {
    if (to - from != 36) {
      return false;
    }
    for (int i = 0; i < 36; i++) {
      boolean isDash = i == 8 || i == 13 || i == 18 || i == 23;
      if (isDash ? text.at(from + i) != '-' : !text.is(from + i, HEX)) {
        return false;
      }
    }
    return true;
  }

  private static boolean isSeparator(int c) {
    return c == '-' || c == '_' || c == '.' || c == ':' || c == '=' || c == '@' || c == '&';
  }
}
