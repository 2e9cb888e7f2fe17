run('stored-script');
