package dev.bourse.access;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Price;
import dev.bourse.schemas.common.TokenLimitsJson;
import dev.bourse.schemas.common.TokenLimitsOrderJson;
import dev.bourse.store.Columns;
import dev.bourse.store.Row;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The limits of the declarations of a token or an application; null means no limit.
 *
 * @param maxGpus the most GPUs it may declare for one cluster; 0 forbids declaring any
 * @param maxPriceCents the highest ceiling, in cents per GPU-hour
 * @param maxHourlyCents the most that all clusters it declared last may cost an hour together, by
 *     their ceilings, in cents
 * @param maxLeaseMillis the longest time until each declaration must lapse, in milliseconds; whole
 *     seconds
 */
public record TokenLimits(
    @Nullable Integer maxGpus,
    @Nullable Long maxPriceCents,
    @Nullable Long maxHourlyCents,
    @Nullable Long maxLeaseMillis) {

  /** No limits. */
  public static final TokenLimits NONE = new TokenLimits(null, null, null, null);

  public static final String MAX_GPUS = "max_gpus";
  public static final String MAX_PRICE = "max_price_per_gpu_hour";
  public static final String MAX_HOURLY = "max_hourly_usd";
  public static final String MAX_LEASE = "max_lease";

  /** The names of the limits in JSON and forms, in display order. */
  public static final List<String> FIELDS = List.of(MAX_GPUS, MAX_PRICE, MAX_HOURLY, MAX_LEASE);

  private static final int MOST_GPUS = 1_000_000;
  private static final BigDecimal MOST_USD = BigDecimal.valueOf(1_000_000_000);
  private static final long DAY_SECONDS = 86_400;
  private static final long MOST_LEASE_SECONDS = 365 * DAY_SECONDS;

  private static final Pattern GPUS = Pattern.compile("[0-9]{1,7}");
  private static final Pattern USD = Pattern.compile("[0-9]{1,10}([.][0-9]{1,2}0*)?");
  private static final Pattern DURATION = Pattern.compile("([1-9][0-9]{0,7})([smhd])");

  public TokenLimits {
    requireNotNegative(maxGpus);
    requireNotNegative(maxPriceCents);
    requireNotNegative(maxHourlyCents);
    if (maxLeaseMillis != null && (maxLeaseMillis <= 0 || maxLeaseMillis % 1_000 != 0)) {
      throw new IllegalArgumentException(
          "a lease of %s ms; expected whole seconds".formatted(maxLeaseMillis));
    }
  }

  private static void requireNotNegative(@Nullable Number limit) {
    if (limit != null && limit.longValue() < 0) {
      throw new IllegalArgumentException("a limit of %s; must not be negative".formatted(limit));
    }
  }

  public boolean isNone() {
    return equals(NONE);
  }

  /**
   * Parses the limits of a form; an absent, null or blank field means no limit.
   *
   * @throws ApiException {@code bad-request} naming a malformed field
   */
  public static TokenLimits of(JsonObject form) {
    return new TokenLimits(
        value(MAX_GPUS, form.getValue(MAX_GPUS), TokenLimits::gpus),
        value(MAX_PRICE, form.getValue(MAX_PRICE), TokenLimits::cents),
        value(MAX_HOURLY, form.getValue(MAX_HOURLY), TokenLimits::cents),
        value(MAX_LEASE, form.getValue(MAX_LEASE), TokenLimits::leaseMillis));
  }

  /**
   * Parses the limits of a body, null for none; an absent or null field means no limit.
   *
   * @throws ApiException {@code bad-request} naming a malformed field
   */
  public static TokenLimits of(@Nullable TokenLimitsOrderJson sent) {
    return sent == null
        ? NONE
        : new TokenLimits(
            value(MAX_GPUS, sent.maxGpus().over(null), TokenLimits::gpus),
            value(MAX_PRICE, sent.maxPricePerGpuHour().over(null), TokenLimits::cents),
            value(MAX_HOURLY, sent.maxHourlyUsd().over(null), TokenLimits::cents),
            value(MAX_LEASE, sent.maxLease().over(null), TokenLimits::leaseMillis));
  }

  private interface Parsing<T> {
    T parse(String field, String text);
  }

  private static <T> @Nullable T value(String field, @Nullable Object value, Parsing<T> parsing) {
    String text =
        value instanceof Number number
            ? new BigDecimal(number.toString()).toPlainString()
            : value == null ? "" : value.toString().strip();
    return text.isEmpty() ? null : parsing.parse(field, text);
  }

  private static Integer gpus(String field, String text) {
    if (!GPUS.matcher(text).matches() || Integer.parseInt(text) > MOST_GPUS) {
      throw ApiException.badField(field, text, "a whole number from 0 to " + MOST_GPUS);
    }
    return Integer.valueOf(text);
  }

  private static Long cents(String field, String text) {
    if (!USD.matcher(text).matches() || new BigDecimal(text).compareTo(MOST_USD) > 0) {
      throw ApiException.badField(
          field, text, "US dollars from 0 to " + MOST_USD + ", with at most two decimals");
    }
    return Price.toCents(new BigDecimal(text));
  }

  private static Long leaseMillis(String field, String text) {
    Matcher matcher = DURATION.matcher(text);
    if (matcher.matches()) {
      long seconds = Long.parseLong(matcher.group(1)) * unitSeconds(matcher.group(2));
      if (seconds <= MOST_LEASE_SECONDS) {
        return seconds * 1_000;
      }
    }
    throw ApiException.badField(field, text, "a duration of at most 365d, such as 90m, 8h or 7d");
  }

  private static long unitSeconds(String unit) {
    return switch (unit) {
      case "d" -> DAY_SECONDS;
      case "h" -> 3_600;
      case "m" -> 60;
      default -> 1;
    };
  }

  /** Returns the API's form; null if there are no limits. */
  public @Nullable TokenLimitsJson toJson() {
    return isNone()
        ? null
        : new TokenLimitsJson(
            maxGpus,
            Price.toUsdOrNull(maxPriceCents),
            Price.toUsdOrNull(maxHourlyCents),
            maxLeaseMillis == null ? null : shownLease(maxLeaseMillis));
  }

  /** Formats a duration in the largest unit in which it is a whole number. */
  public static String shownLease(long millis) {
    long seconds = millis / 1_000;
    for (String unit : List.of("d", "h", "m")) {
      if (seconds % unitSeconds(unit) == 0) {
        return seconds / unitSeconds(unit) + unit;
      }
    }
    return seconds + "s";
  }

  /** Returns each limit as {@code name=value}. */
  public List<String> shown() {
    List<String> shown = new ArrayList<>();
    if (maxGpus != null) {
      shown.add(MAX_GPUS + '=' + maxGpus);
    }
    if (maxPriceCents != null) {
      shown.add(MAX_PRICE + '=' + Price.shown(maxPriceCents));
    }
    if (maxHourlyCents != null) {
      shown.add(MAX_HOURLY + '=' + Price.shown(maxHourlyCents));
    }
    if (maxLeaseMillis != null) {
      shown.add(MAX_LEASE + '=' + shownLease(maxLeaseMillis));
    }
    return shown;
  }

  /** Returns the text for audit rows, with a leading space; empty if there are no limits. */
  public String detail() {
    return isNone() ? "" : " limits=[" + String.join(",", shown()) + ']';
  }

  /** Returns a description for members; empty if there are no limits. */
  public String words() {
    List<String> words = new ArrayList<>();
    if (maxGpus != null) {
      words.add("at most " + maxGpus + " GPUs a cluster");
    }
    if (maxPriceCents != null) {
      words.add("at most $" + Price.shown(maxPriceCents) + " a GPU-hour");
    }
    if (maxHourlyCents != null) {
      words.add("at most $" + Price.shown(maxHourlyCents) + " an hour in all");
    }
    if (maxLeaseMillis != null) {
      words.add("for at most " + shownLease(maxLeaseMillis) + " at a time");
    }
    return String.join(", ", words);
  }

  /**
   * Returns these limits with narrower ones in their place.
   *
   * @param asked the narrower limits; null fields stay unchanged
   * @throws ApiException {@code token-limit} naming a limit that would become wider
   */
  public TokenLimits narrowedTo(TokenLimits asked) {
    return new TokenLimits(
        narrower(MAX_GPUS, maxGpus, asked.maxGpus, String::valueOf),
        narrower(MAX_PRICE, maxPriceCents, asked.maxPriceCents, Price::shown),
        narrower(MAX_HOURLY, maxHourlyCents, asked.maxHourlyCents, Price::shown),
        narrower(MAX_LEASE, maxLeaseMillis, asked.maxLeaseMillis, TokenLimits::shownLease));
  }

  /**
   * Rejects, under any limit, an operation that could create authority without limits.
   *
   * @param what the operation's name
   * @throws ApiException {@code token-limit} naming the limits and the way out
   */
  void requireNone(String what) {
    List<String> limits = shown();
    if (!limits.isEmpty()) {
      throw ApiException.of(
              ErrorCode.TOKEN_LIMIT,
              "%s: refused because the member allowed this application under limits (%s), and what"
                  + " it adds or removes here would act outside of them; do it on the console, or"
                  + " ask the member to allow the application without limits",
              what,
              String.join(", ", limits))
          .with("limit", limits.get(0).substring(0, limits.get(0).indexOf('=')));
    }
  }

  private static <T extends Comparable<T>> @Nullable T narrower(
      String field, @Nullable T standing, @Nullable T asked, Function<T, String> shown) {
    if (asked == null || standing == null) {
      return asked == null ? standing : asked;
    }
    if (asked.compareTo(standing) > 0) {
      throw ApiException.of(
              ErrorCode.TOKEN_LIMIT,
              "%s: %s is wider than %s, and limits can only be narrowed; what may go further takes"
                  + " a new token, or the member's consent once more",
              field,
              shown.apply(asked),
              shown.apply(standing))
          .with("limit", field);
    }
    return asked;
  }

  /** Adds the limits' columns to a table's. */
  static <T> Columns<T> columns(Columns<T> table, Function<T, TokenLimits> limits) {
    return table
        .fixed(MAX_GPUS, row -> limits.apply(row).maxGpus)
        .fixed("max_price_cents", row -> limits.apply(row).maxPriceCents)
        .fixed("max_hourly_cents", row -> limits.apply(row).maxHourlyCents)
        .fixed("max_lease_millis", row -> limits.apply(row).maxLeaseMillis);
  }

  /** Reads the limits of a row that has their columns. */
  public static TokenLimits of(Row row) {
    Long gpus = row.integerOrNull(MAX_GPUS);
    return new TokenLimits(
        gpus == null ? null : Integer.valueOf(Math.toIntExact(gpus)),
        row.integerOrNull("max_price_cents"),
        row.integerOrNull("max_hourly_cents"),
        row.integerOrNull("max_lease_millis"));
  }
}
