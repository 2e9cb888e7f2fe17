package dev.bourse.app;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.BinaryOperator;

/** The files of the data folder that tell the secrets minted at a start, and the address. */
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

  /** The file of this name. */
  KeysFile find(String name) {
    return new KeysFile(config.data().resolve(name + ".json"));
  }

  /** Where the first operator's token is told; of a demo also beside the other tokens. */
  List<KeysFile> listOperators() {
    return demo ? List.of(find(OPERATOR), find(DEMO)) : List.of(find(OPERATOR));
  }

  /**
   * Tells a token for each member of a demo; real members sign in.
   *
   * @param issues what makes one out of organization and username, by what the file calls it
   */
  void noteMemberTokens(Map<String, BinaryOperator<String>> issues) throws IOException {
    if (demo) {
      find(DEMO).noteMemberTokens(issues);
    }
  }

  /** Tells in each what clients call the service. */
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
