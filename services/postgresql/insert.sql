\copy fortune FROM 'tables/inserted.csv' (FORMAT csv)
