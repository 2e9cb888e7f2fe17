package dev.bourse.core;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Settings by dotted key, read once at start-up.
 *
 * <p>Config records ask for the keys they know. Every fault is collected rather than thrown, and a
 * key that no record asked for is a fault too, so that an operator sees all faults at once.
 */
public final class Settings {
  private static final Pattern DURATION = Pattern.compile("(\\d+(?:\\.\\d+)?)(ms|s|m|h|d)?");
  private static final Map<String, Double> UNIT_MILLIS =
      Map.of("ms", 1.0, "s", 1e3, "m", 60e3, "h", 3600e3, "d", 86400e3);
  private static final Pattern SIZE = Pattern.compile("(\\d{1,15})(KiB|MiB|GiB|TiB)?");
  private static final Map<String, Long> UNIT_BYTES =
      Map.of("KiB", 1L << 10, "MiB", 1L << 20, "GiB", 1L << 30, "TiB", 1L << 40);
  private static final String ENVIRONMENT_PREFIX = "BOURSE_";

  /**
   * Environment variables that are not settings of the service: the command line's own, and those
   * that Kubernetes sets in every container of a namespace with a Service named bourse.
   */
  private static final Pattern OTHERS =
      Pattern.compile(
          "BOURSE_(?:URL|TOKEN|OPERATOR_TOKEN|PROFILE|CLIENT_CERT|CLIENT_KEY|CLUSTER|NODE|ALLOCATION"
              + "|SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?"
              + "|PORT_\\d+_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?)");

  /** Names of settings whose values are secret or may contain a secret. */
  private static final Pattern SECRET =
      Pattern.compile("(?:^|[.-])(?:password|token|secret|key|command)$");

  /** The user name and password in an address. */
  private static final Pattern USER = Pattern.compile("://[^/@]*@");

  private static final String LINK = "BOURSE_PORT";

  private final Map<String, String> values;
  private final Map<String, String> environment;
  private final TreeSet<String> known = new TreeSet<>();
  private final List<String> faults = new ArrayList<>();

  /**
   * @param values settings by dotted key, as text
   * @param environment the process environment; {@code BOURSE_MARKET_TICK} overrides {@code
   *     market.tick}; variables known to belong to other programs are ignored
   */
  public Settings(Map<String, String> values, Map<String, String> environment) {
    this.values = new TreeMap<>(values);
    this.environment = new HashMap<>(environment);
    this.environment.entrySet().removeIf(Settings::isForOthers);
  }

  private static boolean isForOthers(Map.Entry<String, String> variable) {
    String name = variable.getKey();
    return !name.startsWith(ENVIRONMENT_PREFIX)
        || OTHERS.matcher(name).matches()
        // This name can be a setting or a variable of Kubernetes; its value decides.
        || (name.equals(LINK) && variable.getValue().matches("(?:tcp|udp|sctp)://.{1,300}"));
  }

  /** Free text. */
  public String text(String key, String byDefault) {
    known.add(key);
    String override = environment.get(environmentName(key));
    return override != null ? override : values.getOrDefault(key, byDefault);
  }

  /** {@code true} or {@code false}. */
  public boolean flag(String key, boolean byDefault) {
    String text = text(key, String.valueOf(byDefault));
    if (text.equals("true") || text.equals("false")) {
      return text.equals("true");
    }
    fault(key, text, "true or false");
    return byDefault;
  }

  /** A whole number between two bounds, both included. */
  public int integer(String key, int byDefault, int least, int most) {
    String text = text(key, String.valueOf(byDefault));
    try {
      int value = Integer.parseInt(text);
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException notANumber) {
      // Reported below, like numbers out of range.
    }
    fault(key, text, "a whole number from " + least + " to " + most);
    return byDefault;
  }

  /** A size in bytes between two bounds, both included: {@code 1048576 512KiB 32MiB 50GiB}. */
  public long bytes(String key, long byDefault, long least, long most) {
    String text = text(key, String.valueOf(byDefault));
    Matcher matcher = SIZE.matcher(text);
    if (matcher.matches()) {
      long number = Long.parseLong(matcher.group(1));
      long unit = UNIT_BYTES.getOrDefault(matcher.group(2) == null ? "" : matcher.group(2), 1L);
      if (number <= most / unit && number * unit >= least) {
        return number * unit;
      }
    }
    fault(key, text, "a size from " + least + " to " + most + " bytes, such as 512KiB or 50GiB");
    return byDefault;
  }

  /** A number between 0 and 1, both included. */
  public double fraction(String key, double byDefault) {
    String text = text(key, String.valueOf(byDefault));
    try {
      double value = Double.parseDouble(text);
      if (value >= 0 && value <= 1) {
        return value;
      }
    } catch (NumberFormatException notANumber) {
      // Reported below, like numbers out of range.
    }
    fault(key, text, "a number from 0 to 1");
    return byDefault;
  }

  /** A duration in milliseconds: {@code 250ms 10s 5m 1h 7d}, ISO 8601, or bare seconds. */
  public long millis(String key, Duration byDefault, Duration least, Duration most) {
    String text = text(key, byDefault.toString());
    long value = parseMillis(text);
    if (value >= least.toMillis() && value <= most.toMillis()) {
      return value;
    }
    fault(key, text, "a duration from " + least + " to " + most + ", such as 250ms, 10s, 5m or 1h");
    return byDefault.toMillis();
  }

  /**
   * The given settings, one {@code key=value} for each, in order of their keys. A secret's value is
   * replaced by a note that it is set, and addresses lose their password. Empty if none was given.
   */
  public String summary() {
    StringBuilder summary = new StringBuilder();
    for (String key : known) {
      String value = environment.getOrDefault(environmentName(key), values.get(key));
      if (value != null) {
        summary.append(summary.isEmpty() ? "" : ", ").append(key).append('=');
        summary.append(
            value.isEmpty() || !SECRET.matcher(key).find()
                ? Text.shown(USER.matcher(value).replaceFirst("://"))
                : "(set)");
      }
    }
    return summary.toString();
  }

  /** Records a fault found by the check of a config record. */
  public void fault(String key, String value, String accepted) {
    faults.add(key + ": '" + Text.shown(value) + "' is not acceptable; expected " + accepted);
  }

  /** All faults found so far, unknown keys among them; empty when the settings are sound. */
  public List<String> faults() {
    List<String> all = new ArrayList<>(faults);
    for (String key : values.keySet()) {
      if (!known.contains(key)) {
        all.add(key + ": no such setting");
      }
    }
    TreeSet<String> names = new TreeSet<>(environment.keySet());
    known.forEach(key -> names.remove(environmentName(key)));
    names.forEach(name -> all.add(name + ": no such setting (environment)"));
    return all;
  }

  private static String environmentName(String key) {
    return ENVIRONMENT_PREFIX + key.replaceAll("[.-]", "_").toUpperCase(Locale.ROOT);
  }

  /** Milliseconds, or -1 when the text is no duration. */
  private static long parseMillis(String text) {
    Matcher matcher = DURATION.matcher(text);
    if (matcher.matches()) {
      String unit = matcher.group(2) == null ? "s" : matcher.group(2);
      return Math.round(Double.parseDouble(matcher.group(1)) * UNIT_MILLIS.getOrDefault(unit, 1e3));
    }
    try {
      return Duration.parse(text).toMillis();
    } catch (DateTimeParseException | ArithmeticException notADuration) {
      return -1;
    }
  }
}
