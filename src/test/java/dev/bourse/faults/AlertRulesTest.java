package dev.bourse.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AlertRulesTest {
  private static final Path RULES = Path.of("conf", "alerts.yaml");

  @Test
  void timesAreShortAndNothingElseIsChanged(@TempDir Path folder) throws IOException {
    String original =
        """
        groups:
          - name: bourse
            rules:
              - alert: Late
                expr: >-
                  min by (pool) (bourse_market_quote_age_seconds and on (pool) x == 1) > 120
                for: 2m
                annotations:
                  summary: "Over 120 seconds, for 2m."
              - alert: Fails
                expr: >-
                  increase(failures[1h]) > 3 and bourse_tls_certificate_expiry_seconds < 14 * 86400
                for: 10m
              - alert: BourseRestarts
                expr: >-
                  changes(started[30m]) > 2 or max_over_time(silent[2m]) > 2
        """;
    AlertRules rules = new AlertRules(Files.writeString(folder.resolve("rules"), original));
    assertEquals(Set.of("Late", "Fails", "BourseRestarts"), rules.names());
    assertEquals(
        original
            .replace("x == 1) > 120", "x == 1) > 24")
            .replace("  for: 2m\n", "  for: 2s\n")
            .replace("  for: 10m\n", "  for: 5s\n")
            .replace("[1h]", "[30s]")
            .replace("[30m]", "[90s]")
            .replace("[2m]", "[90s]"),
        rules.shortened());
  }

  @Test
  void ofTheServicesRulesNoneTakesHundredsOfSeconds() throws IOException {
    AlertRules rules = new AlertRules(RULES);
    String shortened = rules.shortened();
    assertFalse(
        Pattern.compile("for: \\d+[mh]|for: \\d{3}|\\[\\d+[mh]]|\\[\\d{3}")
            .matcher(shortened)
            .find());
    assertTrue(shortened.contains("bourse_store_answered_age_seconds > 6"));
    assertTrue(shortened.contains("bourse_changes_known_age_seconds > 4"));
    assertTrue(shortened.contains("bourse_market_lease_held == 1) > 24"));
  }
}
