package dev.bourse.client;

/** Says at Ctrl-C how a transfer goes on; that it can is seen to while it runs. */
final class ResumeHint implements AutoCloseable {
  private final Thread hook;

  ResumeHint(Progress progress, LocalFile file) {
    hook =
        new Thread(
            () ->
                progress.say(
                    file.name()
                        + ": interrupted at "
                        + Sizes.part(progress.bytes(), file.size())
                        + "; the same command goes on from there"));
    Runtime.getRuntime().addShutdownHook(hook);
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The process is ending, and the hook has its say.
      return;
    }
  }
}
