package dev.bourse.app;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.BinaryOperator;

/** The data folder's files with the secrets minted at a start, and the service's address. */
final class KeysFiles {
  static final String DEMO = "demo";
  static final String WORLD = "world";
  static final String OPERATOR = "operator";

  private final Config config;
  private final boolean demo;

  KeysFiles(Config config, boolean demo) {
    this.config = config;
    this.demo = demo;
  }

  /** The file with this name. */
  KeysFile find(String name) {
    return new KeysFile(config.data().resolve(name + ".json"));
  }

  /** The files for the first operator's token; a demo also writes it beside the other tokens. */
  List<KeysFile> listOperators() {
    return demo ? List.of(find(OPERATOR), find(DEMO)) : List.of(find(OPERATOR));
  }

  /**
   * Writes a token for each member of a demo; real members sign in.
   *
   * @param issues creates a token for an organization and a username, by the name of its entry in
   *     the file
   */
  void writeMemberTokens(Map<String, BinaryOperator<String>> issues) throws IOException {
    if (demo) {
      find(DEMO).writeMemberTokens(issues);
    }
  }

  /** Writes the service's address for clients to each file. */
  void noteBaseUrl(String baseUrl) throws IOException {
    if (find(OPERATOR).exists()) {
      find(OPERATOR).noteBaseUrl(baseUrl);
    }
    if (demo) {
      find(DEMO).noteBaseUrl(baseUrl);
    }
    if (config.world().isPresent()) {
      find(WORLD).noteBaseUrl(baseUrl);
    }
  }
}
