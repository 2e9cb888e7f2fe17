package dev.bourse.mail;

import dev.bourse.core.Ids;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes mail as {@code .eml} files into a folder that only the service's user can read, for a
 * service without a mail server. The log names each file, so that a person who tries the service
 * can follow the links.
 */
public final class OutboxMail implements MailSender {
  private static final Logger LOG = LoggerFactory.getLogger(OutboxMail.class);

  /** Files kept, the newest: enough for a trial, and a few MB at most. */
  static final int MAX_FILES = 1_000;

  private static final int MAX_WAITING = 1_000;

  private final Vertx vertx;
  private final Path folder;
  private final String from;
  private final Clock clock;
  private final RandomGenerator random;
  private final Semaphore waiting = new Semaphore(MAX_WAITING);

  public OutboxMail(Vertx vertx, Path folder, String from, Clock clock, RandomGenerator random) {
    this.vertx = vertx;
    this.folder = folder;
    this.from = from;
    this.clock = clock;
    this.random = random;
  }

  @Override
  public boolean send(Mail mail) {
    if (!waiting.tryAcquire()) {
      LOG.warn("a mail was dropped: {} others wait to be written", MAX_WAITING);
      return false;
    }
    vertx
        .executeBlocking(
            () -> {
              write(mail);
              return null;
            })
        .onFailure(e -> LOG.warn("a mail could not be written to {}: {}", folder, e.toString()))
        .onComplete(done -> waiting.release());
    return true;
  }

  private void write(Mail mail) throws IOException {
    Files.createDirectories(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Instant now = clock.instant();
    // Names sort by time; pruning relies on it.
    String name = String.format("%014d-%s", now.toEpochMilli(), Ids.base62(random, 8));
    Path part = folder.resolve(name + ".part");
    Files.createFile(
        part, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(part, eml(mail, now), StandardCharsets.UTF_8);
    Files.move(part, folder.resolve(name + ".eml"));
    // The line contains neither the recipient nor the link, because the link signs its holder in.
    LOG.info("a mail is in {}", folder.resolve(name + ".eml"));
    prune();
  }

  private String eml(Mail mail, Instant now) {
    return String.join(
        "\r\n",
        "Date: " + DateTimeFormatter.RFC_1123_DATE_TIME.format(now.atOffset(ZoneOffset.UTC)),
        "From: " + from,
        "To: " + mail.to(),
        "Subject: " + mail.subject(),
        mail.headers().entrySet().stream()
            .map(header -> header.getKey() + ": " + header.getValue() + "\r\n")
            .collect(Collectors.joining("", "", "MIME-Version: 1.0")),
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: 8bit",
        "",
        mail.text().replace("\n", "\r\n"));
  }

  private void prune() throws IOException {
    List<Path> kept;
    try (Stream<Path> files = Files.list(folder)) {
      kept = files.filter(file -> file.toString().endsWith(".eml")).sorted().toList();
    }
    for (Path old : kept.subList(0, Math.max(0, kept.size() - MAX_FILES))) {
      Files.deleteIfExists(old);
    }
  }

  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }
}
