package dev.bourse.doctor;

import dev.bourse.access.AccessConfig;
import dev.bourse.access.SigningKeyAge;
import dev.bourse.edge.tls.ClientCertificates;
import dev.bourse.edge.tls.TlsConfig;
import dev.bourse.keyring.SecretConfig;
import dev.bourse.keyring.SecretExamination;
import dev.bourse.store.transfer.WholeStore;
import java.io.IOException;
import java.nio.file.Files;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;

/** Looks at keys: whether they are the right ones, and how old they are. */
public final class KeyChecks {
  /** As the alert has it: time to ask an authority twice. */
  private static final Duration CERTIFICATE_SOON = Duration.ofDays(14);

  /** Keys are looked after once an hour, and a store that is away delays it. */
  private static final Duration ROTATION_SLACK = Duration.ofDays(1);

  /** What clocks of several machines are apart where all is well, and some. */
  private static final Duration CLOCK_SLACK = Duration.ofMinutes(1);

  private final Callable<WholeStore> opening;
  private final Clock clock;

  /**
   * @param opening opens the store to look at it
   */
  public KeyChecks(Callable<WholeStore> opening, Clock clock) {
    this.opening = opening;
    this.clock = clock;
  }

  /**
   * Whether what is encrypted in the store can be read.
   *
   * @param withoutKey what it means to have none, for a store that several processes share; empty
   *     for another
   */
  public Check secretKey(SecretConfig secret, String withoutKey) {
    return new Check(
        "secret key",
        notes -> {
          noteAge(notes, secret);
          try (WholeStore store = opening.call()) {
            WholeStore.Examination found = SecretExamination.of(store, secret.keyring());
            found.seen().forEach(notes::see);
            found.faults().forEach(fault -> notes.unsound(fault, ""));
            if (secret.keyring().isEmpty() && found.faults().isEmpty()) {
              if (withoutKey.isEmpty()) {
                notes.skip("none is given, and nothing is encrypted");
              } else {
                notes.warn(withoutKey, "give the same secret.key-file to all processes");
              }
            }
          }
        });
  }

  private void noteAge(Notes notes, SecretConfig secret) throws IOException {
    List<String> ids = List.copyOf(secret.keyring().ids());
    if (ids.isEmpty()) {
      return;
    }
    String age =
        secret.file().isPresent()
            ? ", in a file written "
                + ago(Files.getLastModifiedTime(secret.file().get()).toMillis())
            : "";
    if (ids.size() > 1) {
      notes.warn(
          "keys %s are given%s: a change of keys is under way"
              .formatted(String.join(", ", ids), age),
          "take the old key away once the new one alone is named below what can be read");
    } else {
      notes.see("key %s is given%s".formatted(ids.get(0), age));
    }
  }

  /** Whether the keys that sign members' tokens are replaced in time. */
  public Check signingKeys(AccessConfig access) {
    return new Check(
        "signing keys",
        notes -> {
          try (WholeStore store = opening.call()) {
            OptionalLong newest = SigningKeyAge.newestMillis(store);
            if (newest.isEmpty()) {
              notes.skip("there is none yet; the first start makes one");
              return;
            }
            long age = clock.millis() - newest.getAsLong();
            String seen = "the newest was made " + ago(newest.getAsLong());
            if (age < -CLOCK_SLACK.toMillis()) {
              notes.warn(
                  "the newest is dated %d s from now".formatted(-age / 1_000),
                  "set this machine's clock by NTP, and those of all that serve this store");
            } else if (age > access.keyRotationMillis() + ROTATION_SLACK.toMillis()) {
              notes.warn(
                  seen + ", longer ago than a key signs",
                  "see whether the service runs: it makes the next one within an hour");
            } else {
              notes.see(seen);
            }
          }
        });
  }

  private String ago(long atMillis) {
    long days = Duration.ofMillis(clock.millis() - atMillis).toDays();
    return days == 0 ? "today" : days == 1 ? "yesterday" : days + " days ago";
  }

  /**
   * When the certificate ends, and the authorities of clients' certificates.
   *
   * @param clients which certificates are taken, at each port that asks for some
   */
  public Check certificate(TlsConfig tls, List<ClientCertificates> clients) {
    return new Check(
        "certificate",
        notes -> {
          noteEnd(
              notes,
              tls.pair().toString(),
              tls.pair().end(),
              "so clients refuse it",
              "renew it and write it to " + tls.certificate().path());
          for (ClientCertificates taken : clients) {
            for (X509Certificate authority : taken.authorities()) {
              Instant end = authority.getNotAfter().toInstant();
              noteEnd(
                  notes,
                  "%s takes certificates of %s, which ends %s"
                      .formatted(
                          taken.file().named(), authority.getSubjectX500Principal().getName(), end),
                  end,
                  "so what it issued is refused",
                  "write the next one to %s beside it, and take this one away once nobody shows its"
                          .formatted(taken.file().path())
                      + " certificates");
            }
          }
        });
  }

  private void noteEnd(Notes notes, String seen, Instant end, String consequence, String step) {
    Instant now = clock.instant();
    if (!end.isAfter(now)) {
      notes.fault(seen + ", " + consequence, step);
    } else if (end.isBefore(now.plus(CERTIFICATE_SOON))) {
      notes.warn(seen + ", in less than %d days".formatted(CERTIFICATE_SOON.toDays()), step);
    } else {
      notes.see(seen);
    }
  }
}
