package dev.bourse.client.account;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.client.transfer.ConfigFolder;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** {@code credentials.json}: the accounts by profile, and the profile of the last sign-in. */
final class CredentialFile {
  private static final String FILE = "credentials.json";
  private static final String CURRENT = "current";
  private static final String SERVICES = "services";

  private final ConfigFolder folder;

  CredentialFile(CommandEnvironment environment) {
    this.folder = new ConfigFolder(environment);
  }

  /** A change of an account under the file's lock. */
  @FunctionalInterface
  interface Step {
    /**
     * Returns the changed account.
     *
     * @param account as stored now; empty for none
     * @return the account to store; null to leave it unchanged
     */
    @Nullable Account take(Optional<Account> account) throws RefusedException;
  }

  Path file() {
    return folder.file(FILE);
  }

  /** The profile of the last sign-in. */
  Optional<SignInProfile> current() throws RefusedException {
    JsonObject content = folder.read(FILE);
    return Optional.ofNullable(content.getString(CURRENT)).map(name -> profile(content, name));
  }

  /** A profile by its name; empty if there is none. */
  Optional<SignInProfile> findProfile(String name) throws RefusedException {
    JsonObject content = folder.read(FILE);
    return find(content, name).map(account -> profile(content, name));
  }

  /** The names of the named profiles. */
  List<String> profileNames() throws RefusedException {
    JsonObject content = folder.read(FILE);
    return content.getJsonObject(SERVICES, new JsonObject()).fieldNames().stream()
        .filter(name -> profile(content, name).isNamed())
        .sorted()
        .toList();
  }

  /** An account stored under a service's address does not repeat the address. */
  private static SignInProfile profile(JsonObject content, String name) {
    return new SignInProfile(name, find(content, name).map(Account::url).orElse(name));
  }

  Optional<Account> find(SignInProfile profile) throws RefusedException {
    return find(folder.read(FILE), profile.name());
  }

  private static Optional<Account> find(JsonObject content, String name) {
    return Optional.ofNullable(
            content.getJsonObject(SERVICES, new JsonObject()).getJsonObject(name))
        .map(Account::of);
  }

  /** Reads and stores an account under the file's lock. */
  void update(SignInProfile profile, Step step) throws RefusedException {
    folder.locked(
        FILE,
        () -> {
          JsonObject content = folder.read(FILE);
          Account next = step.take(find(content, profile.name()));
          if (next == null) {
            return false;
          }
          JsonObject services = content.getJsonObject(SERVICES, new JsonObject());
          services.put(profile.name(), next.toJson());
          content.put(SERVICES, services);
          if (next.isSignedIn()) {
            content.put(CURRENT, profile.name());
          }
          folder.write(FILE, content);
          return true;
        });
  }
}
