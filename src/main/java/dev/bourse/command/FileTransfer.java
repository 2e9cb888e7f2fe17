package dev.bourse.command;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;

/** Sends files as request bodies and saves answers to files. */
final class FileTransfer {
  /** Enough for the longest direct upload, 32 MiB, at a tenth of a megabyte a second. */
  private static final Duration SENDING = Duration.ofMinutes(10);

  /** The longest wait for the answer's head; the body may take longer. */
  private static final Duration ANSWERING = Duration.ofSeconds(60);

  private FileTransfer() {}

  /**
   * Calls an operation whose body is a file.
   *
   * @throws RefusedException like {@link Service#call}, and when the file cannot be read
   */
  static JsonObject send(Service service, String method, String path, Path file, String contentType)
      throws RefusedException {
    try {
      Service.Request request =
          new Service.Request(
              method,
              service.baseUrl() + path,
              Map.of("Content-Type", contentType),
              BodyPublishers.ofFile(file));
      return service.answer(service.let(request, BodyHandlers.ofString(), SENDING));
    } catch (FileNotFoundException e) {
      throw new RefusedException(ExitCode.USAGE, "--file: cannot read " + file);
    }
  }

  /**
   * Calls an operation that answers with bytes, and saves them in a new file. An incomplete file is
   * deleted.
   *
   * @throws RefusedException like {@link Service#call}, and when the file exists already or cannot
   *     be written
   */
  static void fetch(Service service, String method, String path, Path file)
      throws RefusedException {
    HttpResponse<InputStream> response =
        service.let(
            Service.Request.of(method, service.baseUrl() + path, Map.of()),
            BodyHandlers.ofInputStream(),
            ANSWERING);
    try (InputStream body = response.body()) {
      if (response.statusCode() >= 300) {
        throw service.refusal(
            response.statusCode(),
            response.headers(),
            new String(body.readAllBytes(), StandardCharsets.UTF_8));
      }
      try (OutputStream out = Files.newOutputStream(file, StandardOpenOption.CREATE_NEW)) {
        try {
          body.transferTo(out);
        } catch (IOException e) {
          Files.deleteIfExists(file);
          throw e;
        }
      }
    } catch (FileAlreadyExistsException e) {
      throw new RefusedException(ExitCode.USAGE, "--file: " + file + " exists already");
    } catch (IOException e) {
      throw new RefusedException(
          ExitCode.UNAVAILABLE, "the bytes cannot be kept in " + file + ": " + IoWords.of(e));
    }
  }
}
