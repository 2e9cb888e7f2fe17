package dev.bourse.command;

import dev.bourse.remote.Dollars;
import dev.bourse.remote.Table;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The losses that an operation causes (it destroys, spends or locks out), from {@code x-asks} in
 * its contract.
 *
 * @param text for people. {@code {name}} in it is an argument or option of that name, {@code
 *     {now.name}} a field of the answer of {@code shows}; {@code {a|b}} is the first of them that
 *     has a value. It is "none" if the field is null or an empty list, "unknown" if there is no
 *     such field
 * @param shows the path of a read that shows the losses, with path parameters in braces; empty if
 *     the text needs none. If it answers a list, the row with the operation's own path parameter
 *     counts
 * @param when the options that make the command ask, each with the sentence it adds to the text. A
 *     key {@code name=value} is that option with that value. Empty if the command always asks
 */
public record LossText(String text, Optional<String> shows, Map<String, String> when) {
  private static final Pattern PLACE = Pattern.compile("\\{([^{}]+)}");

  /** The prefix of fields of the read's answer. */
  private static final String NOW = "now.";

  /** Fields that name an item, best first. */
  private static final List<String> NAMES = List.of("name", "url", "destination", "public_ip");

  private static final String MICROS = "_micros";
  private static final int MICRO_DIGITS = 6;

  public LossText {
    when = Collections.unmodifiableMap(new LinkedHashMap<>(when));
  }

  /** Reads {@code x-asks}; empty if the operation has none. */
  static Optional<LossText> of(@Nullable JsonObject asks) {
    return Optional.ofNullable(asks)
        .map(
            found -> {
              JsonObject cases = found.getJsonObject("when", new JsonObject());
              Map<String, String> when = new LinkedHashMap<>();
              cases.fieldNames().forEach(key -> when.put(key, cases.getString(key)));
              return new LossText(
                  found.getString("text"), Optional.ofNullable(found.getString("shows")), when);
            });
  }

  /**
   * Returns the places, each with its names; {@code now.} precedes the fields of the read's answer.
   */
  public List<List<String>> places() {
    return Stream.concat(Stream.of(text), when.values().stream())
        .flatMap(LossText::placesOf)
        .map(place -> List.of(names(place)))
        .toList();
  }

  private static Stream<String> placesOf(String text) {
    return PLACE.matcher(text).results().map(found -> found.group(1));
  }

  private static String[] names(String place) {
    return place.split("[|]", -1);
  }

  /** True if the given inputs make the command ask. */
  boolean isAsked(Map<String, @Nullable Object> given) {
    return when.isEmpty() || when.keySet().stream().anyMatch(key -> isGiven(key, given));
  }

  private static boolean isGiven(String key, Map<String, @Nullable Object> given) {
    int equals = key.indexOf('=');
    return equals < 0
        ? given.containsKey(key)
        : given.containsKey(key.substring(0, equals))
            && key.substring(equals + 1)
                .equals(String.valueOf(given.get(key.substring(0, equals))));
  }

  /** Returns the text and the sentences of the given options. */
  private String wording(Map<String, @Nullable Object> given) {
    return Stream.concat(
            Stream.of(text),
            when.entrySet().stream()
                .filter(entry -> isGiven(entry.getKey(), given))
                .map(Map.Entry::getValue))
        .collect(Collectors.joining(" "));
  }

  /**
   * Returns the text with its values and the losses it names. Times and amounts of use are not
   * losses, because they change by themselves.
   *
   * @param given the arguments and options by name
   * @param now the read's answer; empty if there is none
   */
  Question filled(Map<String, @Nullable Object> given, JsonObject now) {
    String wording = wording(given);
    String filled =
        PLACE
            .matcher(wording)
            .replaceAll(found -> Matcher.quoteReplacement(shown(found, given, now)));
    Set<String> losses = new TreeSet<>();
    placesOf(wording)
        .filter(place -> !place.endsWith("_at") && !place.endsWith(MICROS))
        .forEach(
            place -> values(place, given, now).forEach(value -> losses.add(place + ": " + value)));
    return new Question(List.of(filled), losses);
  }

  private static String shown(
      MatchResult place, Map<String, @Nullable Object> given, JsonObject now) {
    return String.join(", ", values(place.group(1), given, now));
  }

  /** Returns the values of a place: the values of its first name that has any. */
  private static List<String> values(
      String place, Map<String, @Nullable Object> given, JsonObject now) {
    boolean isKnown = false;
    for (String name : names(place)) {
      JsonObject holder =
          name.startsWith(NOW)
              ? holder(now, name.substring(NOW.length()))
              : new JsonObject(new HashMap<>(given));
      String field = name.substring(name.lastIndexOf('.') + 1);
      isKnown |= holder.containsKey(field);
      Object value = holder.getValue(field);
      if (value instanceof JsonArray list && !list.isEmpty()) {
        return list.stream().map(LossText::named).toList();
      }
      if (value != null && !(value instanceof JsonArray)) {
        return List.of(value instanceof Number sum ? number(field, sum) : Table.cell(value));
      }
    }
    return List.of(isKnown ? "none" : "unknown");
  }

  /** The object that holds a field of the read's answer; {@code a.b} is b of a. */
  private static JsonObject holder(JsonObject now, String name) {
    int dot = name.indexOf('.');
    if (dot < 0) {
      return now;
    }
    return now.getValue(name.substring(0, dot)) instanceof JsonObject below
        ? holder(below, name.substring(dot + 1))
        : new JsonObject();
  }

  /** A number; money in dollars, with all its digits and at least two decimals. */
  private static String number(String field, Number number) {
    BigDecimal value = new BigDecimal(number.toString());
    if (field.endsWith(MICROS)) {
      return dollars(value.movePointLeft(MICRO_DIGITS));
    }
    return field.endsWith("_usd") || field.endsWith("_per_gpu_hour")
        ? dollars(value)
        : Table.cell(number);
  }

  private static String dollars(BigDecimal usd) {
    return (usd.signum() < 0 ? "-$" : "$") + Dollars.text(usd.abs());
  }

  private static String named(@Nullable Object item) {
    return item instanceof JsonObject thing
        ? NAMES.stream()
            .filter(thing::containsKey)
            .findFirst()
            .map(name -> Table.cell(thing.getValue(name)))
            .orElseGet(() -> Table.cell(thing))
        : Table.cell(item);
  }
}
