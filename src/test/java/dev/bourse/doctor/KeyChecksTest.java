package dev.bourse.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.Settings;
import dev.bourse.doctor.Finding.Verdict;
import dev.bourse.edge.tls.TlsConfig;
import dev.bourse.testing.Authority;
import dev.bourse.testing.Certificates;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Findings on the expiry of a certificate; DoctorSurroundingsTest tests the age of other keys. */
class KeyChecksTest {
  private static Verdict at(TlsConfig tls, Duration beforeEnd) {
    Instant now = tls.pair().end().minus(beforeEnd);
    KeyChecks keys =
        new KeyChecks(
            () -> {
              throw new AssertionError("no store is needed");
            },
            Clock.fixed(now, ZoneOffset.UTC));
    return new Checkup(Duration.ofMinutes(2))
        .of(List.of(keys.certificate(tls, tls.clients().stream().toList())))
        .get(0)
        .verdict();
  }

  @Test
  void aCertificateIsWarnedOfTwoWeeksBeforeItEnds(@TempDir Path folder) throws Exception {
    Map<String, String> settings = new HashMap<>();
    for (String setting : Certificates.make("EC", 30).write(folder)) {
      int equals = setting.indexOf('=');
      settings.put(setting.substring(0, equals), setting.substring(equals + 1));
    }
    TlsConfig tls = TlsConfig.from(new Settings(settings, Map.of())).orElseThrow();
    assertEquals(Verdict.OK, at(tls, Duration.ofDays(15)));
    assertEquals(Verdict.WARNING, at(tls, Duration.ofDays(13)));
    assertEquals(Verdict.FAULT, at(tls, Duration.ZERO));
  }

  @Test
  void anAuthorityOfClientsThatEndsBeforeIsWarnedOfToo(@TempDir Path folder) throws Exception {
    Map<String, String> settings = new HashMap<>();
    List<String> given = new ArrayList<>(List.of(Certificates.make("EC", 30).write(folder)));
    given.add(new Authority("ours", Duration.ofDays(20)).write(folder, "tls.client.ca"));
    given.forEach(one -> settings.put(one.split("=", 2)[0], one.split("=", 2)[1]));
    TlsConfig tls = TlsConfig.from(new Settings(settings, Map.of())).orElseThrow();
    assertEquals(Verdict.OK, at(tls, Duration.ofDays(25)));
    assertEquals(Verdict.WARNING, at(tls, Duration.ofDays(20)));
    assertEquals(Verdict.FAULT, at(tls, Duration.ofDays(9)));
  }
}
