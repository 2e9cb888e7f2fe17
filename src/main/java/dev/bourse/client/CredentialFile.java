package dev.bourse.client;

import dev.bourse.client.transfer.ConfigFolder;
import dev.bourse.remote.Refused;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** {@code credentials.json}: the accounts at services, and where somebody signed in last. */
final class CredentialFile {
  private static final String FILE = "credentials.json";
  private static final String CURRENT = "current";
  private static final String SERVICES = "services";

  private final ConfigFolder folder;

  CredentialFile(ConfigFolder folder) {
    this.folder = folder;
  }

  /** What to do to an account while nobody else does. */
  @FunctionalInterface
  interface Step {
    /**
     * What becomes of it.
     *
     * @param account as stored now; empty for none
     * @return what is to be stored; null to leave it as it is
     */
    @Nullable Account take(Optional<Account> account) throws Refused;
  }

  Path file() {
    return folder.file(FILE);
  }

  /** The service signed in at last. */
  Optional<String> current() throws Refused {
    return Optional.ofNullable(folder.read(FILE).getString(CURRENT));
  }

  Optional<Account> find(String url) throws Refused {
    return find(folder.read(FILE), url);
  }

  private static Optional<Account> find(JsonObject content, String url) {
    return Optional.ofNullable(content.getJsonObject(SERVICES, new JsonObject()).getJsonObject(url))
        .map(Account::of);
  }

  /** Reads and stores an account in one step that no other command comes between. */
  void update(String url, Step step) throws Refused {
    folder.locked(
        FILE,
        () -> {
          JsonObject content = folder.read(FILE);
          Account next = step.take(find(content, url));
          if (next == null) {
            return false;
          }
          JsonObject services = content.getJsonObject(SERVICES, new JsonObject());
          services.put(url, next.toJson());
          content.put(SERVICES, services);
          if (next.isSignedIn()) {
            content.put(CURRENT, url);
          }
          folder.write(FILE, content);
          return true;
        });
  }
}
