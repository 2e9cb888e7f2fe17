package dev.bourse.client.capacity;

import dev.bourse.core.Text;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Describes when a declaration or bid releases all nodes, if that is sooner than before.
 *
 * @param sent the body with {@code until} and {@code max_spend_usd}
 * @param standing the terms that it replaces; null if there are none
 * @param perHour the nodes' cost per hour; 0 if unknown
 * @param now by the clock of the user's machine
 */
record TermsEnd(JsonObject sent, @Nullable JsonObject standing, BigDecimal perHour, Instant now) {
  private static final String UNTIL = "until";
  private static final String BUDGET = "max_spend_usd";
  private static final BigDecimal MINUTES = BigDecimal.valueOf(60);

  /** The longest duration, in minutes, that is not written in hours. */
  private static final int LONGEST_MINUTES = 120;

  /** Returns the lines to show; empty if no node is held. */
  List<String> lines(int nodes) {
    List<String> lines = new ArrayList<>();
    if (nodes > 0) {
      String given =
          nodes == 1
              ? "the node is given back, with all data on it, "
              : "all %d nodes are given back, with all data on them, ".formatted(nodes);
      end().ifPresent(end -> lines.add(given + "at " + end));
      budget().ifPresent(budget -> lines.add(given + budget));
    }
    return lines;
  }

  /** A new or earlier end. */
  private Optional<String> end() {
    if (!(sent.getValue(UNTIL) instanceof String typed)) {
      return Optional.empty();
    }
    Instant end;
    try {
      end = OffsetDateTime.parse(typed).toInstant();
    } catch (DateTimeParseException e) {
      return Optional.of(Text.plain(typed));
    }
    String before = standing == null ? null : standing.getString(UNTIL);
    if (before != null && !end.isBefore(Instant.parse(before))) {
      return Optional.empty();
    }
    boolean isToday = now.atOffset(ZoneOffset.UTC).toLocalDate().equals(dateOf(end).toLocalDate());
    return Optional.of(
        DateTimeFormatter.ofPattern(isToday ? "HH:mm 'UTC'" : "yyyy-MM-dd HH:mm 'UTC'")
            .format(dateOf(end)));
  }

  private static OffsetDateTime dateOf(Instant end) {
    return end.atOffset(ZoneOffset.UTC);
  }

  /** A new or smaller budget. */
  private Optional<String> budget() {
    if (!(sent.getValue(BUDGET) instanceof Number typed)) {
      return Optional.empty();
    }
    BigDecimal budget = new BigDecimal(typed.toString());
    Object before = standing == null ? null : standing.getValue(BUDGET);
    if (before != null && budget.compareTo(new BigDecimal(before.toString())) >= 0) {
      return Optional.empty();
    }
    String spent = "once they have cost " + DeclaredChange.dollars(budget);
    return Optional.of(
        perHour.signum() <= 0 ? spent : spent + ", at today's price " + after(budget));
  }

  private String after(BigDecimal budget) {
    int minutes = budget.multiply(MINUTES).divide(perHour, 0, RoundingMode.FLOOR).intValue();
    return minutes < 1
        ? "within a minute"
        : minutes <= LONGEST_MINUTES
            ? "after about " + DeclaredChange.count(minutes, "minute")
            : "after about " + DeclaredChange.count(minutes / MINUTES.intValue(), "hour");
  }
}
