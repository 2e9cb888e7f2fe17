package dev.bourse.access;

import dev.bourse.keyring.SharedSecrets;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The private keys of all processes of a store, encrypted in it. */
final class SharedSigningKeys implements PrivateKeys {
  private static final String KIND = "signing-key/";

  /** Deletes keys whose public half has expired although they were never retired. */
  static final Statement DELETE_EXPIRED =
      Statement.of(
          """
          DELETE FROM encrypted_secret WHERE name >= 'signing-key/' AND name < 'signing-key0'
          AND name NOT IN (SELECT 'signing-key/' || kid FROM signing_key)\
          """);

  private final SharedSecrets secrets;

  SharedSigningKeys(SharedSecrets secrets) {
    this.secrets = secrets;
  }

  @Override
  public Future<List<Kept>> read() {
    return secrets
        .list(KIND)
        .map(
            found -> {
              List<Kept> kept = new ArrayList<>();
              for (Map.Entry<String, byte[]> one : found.entrySet()) {
                kept.add(
                    new Kept(
                        SigningKey.parse(new String(one.getValue(), StandardCharsets.US_ASCII)),
                        0));
              }
              return kept;
            });
  }

  @Override
  public Future<List<Statement>> keep(SigningKey key) {
    return Future.succeededFuture(
        List.of(secrets.storing(KIND + key.kid(), key.text().getBytes(StandardCharsets.US_ASCII))));
  }

  @Override
  public List<Statement> deletions(SigningKey key) {
    return List.of(SharedSecrets.deleting(KIND + key.kid()));
  }

  @Override
  public Future<Void> forget(SigningKey key) {
    return Future.succeededFuture();
  }

  @Override
  public boolean isShared() {
    return true;
  }
}
