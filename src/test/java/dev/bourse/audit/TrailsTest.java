package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The trail of each kind of row. */
@Tag("fast")
class TrailsTest {
  @ParameterizedTest
  @CsvSource({
    // actor, organization, subject, trail
    "token:h7Kd02LmQx9a, acme, acme-train, acme",
    "token:h7Kd02LmQx9a, acme, acme, acme",
    "member:alice, acme, acme-train, acme",
    "member:alice, acme, acme, acme",
    "operator:first, acme, acme, acme",
    "operator:first, acme, acme-train, platform",
    "operator:first, '', demo-h100, platform",
    "system:offboard, acme, acme, acme",
    "system:market, acme, acme-train, acme",
    "system:start, '', platform, platform",
    "alice, acme, acme, platform",
    "alice, acme, acme-train, platform",
    "'', acme, acme, platform",
    "token:h7Kd02LmQx9a, '', demo-h100, platform",
  })
  void aRowIsInTheTrailOf(String actor, String orgId, String subject, String trail) {
    AuditRow row = new AuditRow(0, orgId, actor, "any", subject, "");

    assertEquals(trail.equals("platform") ? Trails.PLATFORM : trail, Trails.owner(row));
  }
}
