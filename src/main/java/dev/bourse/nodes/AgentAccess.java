package dev.bourse.nodes;

/**
 * The access of a machine's agent to the service. It is written to the machine as a configuration
 * of curl, so that the credential is in no argument list.
 *
 * @param baseUrl the service's address
 * @param credential the credential of the machine's allocation
 */
public record AgentAccess(String baseUrl, String credential) {
  /** Returns the file on the machine. */
  String toFile() {
    return """
    url = "%s/api/node/metrics"
    header = "Authorization: Bearer %s"
    """
        .formatted(baseUrl, credential);
  }

  /** Omits the credential, so that it cannot reach a log by accident. */
  @Override
  public String toString() {
    return "access to " + baseUrl;
  }
}
