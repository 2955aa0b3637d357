SELECT id, message FROM fortune;
